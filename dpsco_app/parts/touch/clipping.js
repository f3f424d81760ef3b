// What simple clipping computes, on points [x, y]: the mathematics of the picture, and nothing drawn.

export const length = ([x, y]) => Math.hypot(x, y)

export const clipped = (point, radius) => {
  const factor = Math.min(1, radius / (length(point) || 1))
  return [point[0] * factor, point[1] * factor]
}

// Standard deviation of the noise in each coordinate: replacing one of n records moves the average
// of the clipped ones by at most 2R/n.
export const noiseStd = (radius, n, rho) => (2 * radius) / n / Math.sqrt(2 * rho)

export const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1])

// A value at a radius, of values at radii that are evenly spaced on a logarithmic scale between two
// ends; beyond the ends it is that at the end.
export const between = (values, radius, [first, last]) => {
  const place = ((values.length - 1) * Math.log(radius / first)) / Math.log(last / first)
  const held = Math.min(values.length - 1, Math.max(0, place))
  const low = Math.min(Math.floor(held), values.length - 2)
  return values[low] + (held - low) * (values[low + 1] - values[low])
}

// The average of all n records at a radius, of which Python sends what it is at some, and what
// another place of the first record makes of it.
export const averageAt = ({ plain, averages, reach }, radius) =>
  radius === Infinity ? plain : averages.map((values) => between(values, radius, reach))
export const withMoved = (release, first, moved, radius, n) => {
  const [from, to] = [clipped(first, radius), clipped(moved, radius)]
  return release.map((x, i) => x + (to[i] - from[i]) / n)
}

// The parts of the mean squared error over records and noise, which add up, for n records of a law:
// `bias` and `variance` are those of one clipped record at each radius, `whole` is the variance of
// one that is not clipped. An error is the root of a part.
export const squaredParts = ({ bias, variance, whole }, reach, radius, n, rho) => {
  if (radius === Infinity) return { sampling: whole / n, bias: 0, noise: 0, total: whole / n }
  const parts = {
    sampling: between(variance, radius, reach) / n,
    bias: between(bias, radius, reach),
    noise: 2 * noiseStd(radius, n, rho) ** 2,
  }
  return { ...parts, total: parts.sampling + parts.bias + parts.noise }
}

// The radii from `low` to `high`, evenly spaced on a logarithmic scale.
export const radiusGrid = (low, high, count) =>
  Array.from({ length: count }, (_, i) => low * (high / low) ** (i / (count - 1)))

// P(standard normal < x), by Simpson's rule: accurate to 1e-9 for |x| <= 8.
export const normalCdf = (x) => {
  const end = Math.min(8, Math.abs(x))
  const steps = 200
  const density = (t) => Math.exp((-t * t) / 2) / Math.sqrt(2 * Math.PI)
  let sum = density(0) + density(end)
  for (let i = 1; i < steps; i++) sum += (i % 2 ? 4 : 2) * density((i * end) / steps)
  const half = (sum * end) / steps / 3
  return x < 0 ? 0.5 - half : 0.5 + half
}

// How often the best guess is right which of two equally likely data sets a release comes from: with
// Gaussian noise about averages that are `shift` apart, and at most for any private method.
export const bestGuess = (shift, std) => normalCdf(shift / std / 2)
export const guessLimit = (epsilon, delta) => (Math.exp(epsilon) + delta) / (Math.exp(epsilon) + 1)

// The exponential mechanism's odds among falling radii: about `target` records are to be longer than
// the chosen one, and of radii that are as good the smaller is likelier.
export const choiceOdds = (longer, radii, target, epsilon) => {
  const logs = radii.map((radius, i) =>
    -2 * Math.log(radius / radii[0]) - (epsilon * Math.abs(longer[i] - target)) / 2)
  const largest = Math.max(...logs)
  const weights = logs.map((log) => Math.exp(log - largest))
  const sum = weights.reduce((a, b) => a + b)
  return weights.map((weight) => weight / sum)
}

// The place at which the odds, added up, pass a share in [0, 1).
export const placeAt = (odds, share) => {
  let sum = 0
  const place = odds.findIndex((one) => (sum += one) > share)
  return place < 0 ? odds.length - 1 : place
}
