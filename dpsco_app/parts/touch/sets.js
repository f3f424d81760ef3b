// What Geometry computes of a point x and a set of the plane, and nothing drawn. A set is
// {corners, polar}, each corner in order and the first again at the end, or the points w with
// |w1/a1|^q + |w2/a2|^q <= 1: {exponent: q, axes: a}.

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

// The norm whose unit ball the set is; infinite where there is none.
const normOf = ({ corners, polar, exponent, axes }, x) => {
  if (!corners) return powerNorm(x.map((one, j) => one / axes[j]), exponent)
  return polar ? Math.max(...polar.map((y) => inner(x, y))) : Infinity
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
const onRound = (set, x) => {
  if (normOf(set, x) <= 1) return x
  const { exponent, axes } = set
  const size = x.map(Math.abs)
  const at = (angle) => {
    const way = [Math.cos(angle), Math.sin(angle)]
    return times(way, 1 / normOf(set, way))
  }
  let [low, high] = [0, Math.PI / 2]
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2
    const w = at(middle)
    const normal = w.map((one, j) => (one / axes[j]) ** (exponent - 1) / axes[j])
    if (cross(minus(size, w), normal) > 0) high = middle
    else low = middle
  }
  return at((low + high) / 2).map((one, j) => one * Math.sign(x[j]))
}

const nearestOf = (set, x) => (set.corners ? onPolygon(set.corners, x) : onRound(set, x))

// Where <g, w> is largest: one point, or the two ends of a side; for g other than 0.
const farthestOf = ({ corners, exponent, axes }, g) => {
  if (corners) {
    const heights = corners.map((w) => inner(w, g))
    const top = Math.max(...heights)
    const last = corners.length > 2 ? corners.length - 1 : corners.length // the first once more
    const all = corners.filter((w, i) => i < last && heights[i] >= top - ZERO)
    return all.sort((a, b) => a[1] - b[1] || a[0] - b[0])
  }
  const pull = g.map((one, j) => one * axes[j])
  const top = Math.max(...pull.map(Math.abs))
  const sizes = pull.map((one) => Math.sign(one) * Math.abs(one / top) ** (1 / (exponent - 1)))
  const norm = powerNorm(sizes, exponent)
  return [sizes.map((one, j) => (axes[j] * one) / norm)]
}

// A point with its projection, the dual point there, and how far the set reaches towards x.
export const seenFrom = (set, x) => {
  const nearest = nearestOf(set, x)
  const residual = minus(x, nearest)
  const length = Math.hypot(...residual)
  const normal = length > ZERO ? times(residual, 1 / length) : null
  const height = normal && inner(farthestOf(set, normal)[0], normal)
  const square = inner(x, x)
  const farthest = square > ZERO * ZERO ? farthestOf(set, x) : []
  const dualNorm = farthest.length ? inner(farthest[0], x) : 0
  return {
    x,
    nearest,
    distance: normal ? length : 0,
    normal,
    dualPoint: height > ZERO ? times(normal, 1 / height) : null,
    norm: normOf(set, x),
    dualNorm,
    farthest,
    foot: farthest.length ? times(x, dualNorm / square) : x,
  }
}
