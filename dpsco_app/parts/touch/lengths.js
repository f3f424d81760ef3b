// What a clip radius does to gradients of given lengths: counts and shares, and nothing drawn.

const sum = (values) => values.reduce((a, b) => a + b, 0)

export const shareClipped = (norms, radius) =>
  norms.filter((norm) => norm > radius).length / norms.length

// The share of all lengths, added up, that clipping takes away.
export const shareLost = (norms, radius) =>
  sum(norms.map((norm) => Math.max(0, norm - radius))) / (sum(norms) || 1)

// The place between two ends on a logarithmic scale, from 0 to 1, and back.
export const toShare = (value, [low, high]) =>
  Math.min(1, Math.max(0, Math.log(Math.max(value, low) / low) / Math.log(high / low)))
export const fromShare = (share, [low, high]) => low * (high / low) ** share

// How many lengths above 0 are in each of the bins, which are even on a logarithmic scale.
export const binCounts = (norms, ends, bins) => {
  const counts = Array(bins).fill(0)
  for (const norm of norms) {
    if (norm > 0) counts[Math.min(bins - 1, Math.floor(toShare(norm, ends) * bins))] += 1
  }
  return counts
}

// 1, 2 and 5 times powers of ten between two ends, or the powers alone if those are enough.
export const logTicks = (low, high) => {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))]
  const digits = last - first > 3 ? [1] : last - first > 1 ? [1, 3] : [1, 2, 5]
  const ticks = []
  for (let e = first; e <= last; e++) for (const digit of digits) ticks.push(Number(`${digit}e${e}`))
  return ticks.filter((tick) => tick >= low && tick <= high)
}
