// What Geometry computes of a point x and a set of the plane, and nothing drawn. A set is
// {corners}, in order and the first again at the end, or the points w with |w1|^q + |w2|^q <= 1:
// {exponent: q}.

const ZERO = 1e-9 // what is nearer to 0 is rounding
const HALVINGS = 80

const inner = (a, b) => a[0] * b[0] + a[1] * b[1]
const minus = (a, b) => [a[0] - b[0], a[1] - b[1]]
const times = (a, factor) => [a[0] * factor, a[1] * factor]
const cross = (a, b) => a[0] * b[1] - a[1] * b[0]

const powerNorm = (x, q) => {
  const [small, top] = x.map(Math.abs).sort((a, b) => a - b)
  return top && top * (1 + (small / top) ** q) ** (1 / q)
}

const onSide = (x, [from, to]) => {
  const along = minus(to, from)
  const share = inner(minus(x, from), along) / inner(along, along)
  const t = Math.min(1, Math.max(0, share))
  return [from[0] + t * along[0], from[1] + t * along[1]]
}

const onPolygon = (corners, x) => {
  const sides = corners.slice(1).map((to, i) => [corners[i], to])
  const left = ([from, to]) => cross(minus(to, from), minus(x, from)) >= 0
  if (sides.length > 1 && sides.every(left)) return x
  const places = sides.map((side) => onSide(x, side))
  const lengths = places.map((w) => Math.hypot(...minus(x, w)))
  return places[lengths.indexOf(Math.min(...lengths))]
}

// The residual is a multiple of the normal. Along the part of the boundary in the quadrant of an x
// outside, the side of the normal on which x lies changes once: its place is found by halving.
const onRound = (exponent, x) => {
  if (powerNorm(x, exponent) <= 1) return x
  const size = x.map(Math.abs)
  const at = (angle) => {
    const way = [Math.cos(angle), Math.sin(angle)]
    return times(way, 1 / powerNorm(way, exponent))
  }
  let [low, high] = [0, Math.PI / 2]
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2
    const w = at(middle)
    const normal = w.map((one) => one ** (exponent - 1))
    if (cross(minus(size, w), normal) > 0) high = middle
    else low = middle
  }
  return at((low + high) / 2).map((one, j) => one * Math.sign(x[j]))
}

const nearestOf = ({ corners, exponent }, x) =>
  corners ? onPolygon(corners, x) : onRound(exponent, x)

// Where <g, w> is largest: one point, or the two ends of a side; for g other than 0.
const farthestOf = ({ corners, exponent }, g) => {
  if (corners) {
    const heights = corners.map((w) => inner(w, g))
    const top = Math.max(...heights)
    const last = corners.length > 2 ? corners.length - 1 : corners.length // the first once more
    const all = corners.filter((w, i) => i < last && heights[i] >= top - ZERO)
    return all.sort((a, b) => a[1] - b[1] || a[0] - b[0])
  }
  const top = Math.max(...g.map(Math.abs))
  const sizes = g.map((one) => Math.sign(one) * Math.abs(one / top) ** (1 / (exponent - 1)))
  const norm = powerNorm(sizes, exponent)
  return [sizes.map((one) => one / norm)]
}

// A point with its projection, and how far the set reaches towards it.
export const seenFrom = (set, x) => {
  const nearest = nearestOf(set, x)
  const residual = minus(x, nearest)
  const length = Math.hypot(...residual)
  const normal = length > ZERO ? times(residual, 1 / length) : null
  const square = inner(x, x)
  const farthest = square > ZERO * ZERO ? farthestOf(set, x) : []
  const dualNorm = farthest.length ? inner(farthest[0], x) : 0
  return {
    x,
    nearest,
    distance: normal ? length : 0,
    normal,
    dualNorm,
    farthest,
    foot: farthest.length ? times(x, dualNorm / square) : x,
  }
}
