// Names of lines that are drawn over a figure: each stands at its own line.

import { tag } from "./layer.js"

const RISES = [-7, 19, -24, 36] // a name's heights above or below its line, in pixels
const SIDES = [-40, 0, 40, -80, 80, -120, 120] // the same beside an upright line
const PLACES = 24 // along a line
const GAP = 7 // between an upright line and its name
const SPILL = 16 // how far a name beside an upright line may leave the panel: there is room
const PIECE = 6 // between two points of a line

// What is drawn in the figure, as points.
const inked = (gd) => {
  const { xaxis, yaxis } = gd._fullLayout
  return gd.calcdata.flatMap((cells) => {
    const { mode, opacity } = cells[0].trace
    if (opacity === 0) return []
    const points = cells
      .map(({ x, y }) => [xaxis._offset + xaxis.c2p(x), yaxis._offset + yaxis.c2p(y)])
      .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y))
    if (!mode?.includes("lines") || points.length > 400) return points
    return points.flatMap(([x, y], i) => {
      const [a, b] = points[Math.max(i - 1, 0)]
      return along([x, y, a, b], Math.min(200, 1 + Math.floor(Math.hypot(x - a, y - b) / PIECE)))
    })
  })
}

// Points on a stroke, from its first end on.
const along = ([a, b, c, d], count) =>
  Array.from({ length: count }, (_, k) => {
    const share = count > 1 ? k / (count - 1) : 0
    return [a + (c - a) * share, b + (d - b) * share]
  })

// How far a box is from the nearest of some points.
const distance = ([left, top, right, bottom], points) =>
  Math.min(...points.map(([x, y]) =>
    Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom))))

// Write a name at its line, near a point of it, where it is nearer to that line than to any other of
// `strokes` and covers least of the figure, of its words and of other names.
export const writeAt = (layer, gd, { stroke, point, strokes }, text, colour, page) => {
  const upright = stroke[0] === stroke[2]
  const made = tag("text", {
    fill: colour, stroke: page, "stroke-width": 4, "paint-order": "stroke", "font-weight": 700,
    style: "font-size: 0.9rem",
  })
  // Beside an upright line a name has little room, and takes two lines.
  const rows = upright ? text.split(/(?<=: )/) : [text]
  made.append(...rows.map((row, i) => tag("tspan", i ? { dy: "1.15em" } : {}, row)))
  const setAt = ([left, rise]) => {
    for (const row of made.children) row.setAttribute("x", left)
    made.setAttribute("y", rise)
  }
  setAt([0, 0])
  layer.append(made)
  const { width, height } = made.getBBox()
  const { xaxis, yaxis } = gd._fullLayout
  const home = gd.getBoundingClientRect()
  const words = [...gd.querySelectorAll(".annotation-text"), ...layer.querySelectorAll("text, circle")]
    .filter((one) => one !== made).map((one) => one.getBoundingClientRect())
    .map(({ left, top, right, bottom }) =>
      [left - home.left, top - home.top, right - home.left, bottom - home.top])
  const own = along(stroke, 100)
  const others = strokes.filter((one) => one.join() !== stroke.join())
    .flatMap((one) => along(one, 100))
  const points = [...inked(gd), ...own, ...others]
  const up = (0.8 * height) / rows.length // from the first row's foot to its top
  const box = ([left, rise]) => [left, rise - up, left + width, rise - up + height]
  const cost = (place) => {
    const [left, top, right, bottom] = box(place)
    const over = words.filter(([a, b, c, d]) => a < right && left < c && b < bottom && top < d)
    const inside = points.filter(([a, b]) => a > left && a < right && b > top && b < bottom)
    const out = Math.max(0, yaxis._offset - top)
      + Math.max(0, bottom - yaxis._offset - yaxis._length)
    const near = distance(box(place), own)
    const strange = others.length && distance(box(place), others) <= near
    const away = distance(box(place), [point])
    return 500 * strange + 60 * over.length + 5 * inside.length + 10 * out + 2 * near + 0.1 * away
  }
  const least = xaxis._offset + 2
  const most = Math.max(least, xaxis._offset + xaxis._length - width - 2)
  const beside = SIDES.flatMap((down) => [stroke[0] + GAP, stroke[0] - GAP - width]
    .map((left) => [left, point[1] + down]))
  const fitting = beside.filter(([left]) => left >= least && left <= most + SPILL)
  const moved = ([left, rise]) => [Math.min(Math.max(left, least), most + SPILL), rise]
  const aboveAndBelow = () => along(stroke, PLACES).flatMap(([x, y]) =>
    RISES.map((rise) => [Math.min(Math.max(x - width / 2, least), most), y + rise]))
  // On a narrow screen no place beside the line may fit: then the name lies over the line.
  const places = upright ? (fitting.length ? fitting : beside.map(moved)) : aboveAndBelow()
  setAt(places.map((place) => [cost(place), place]).sort((a, b) => a[0] - b[0])[0][1])
}
