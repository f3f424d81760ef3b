// The parts of the bounds in a figure: the one that is pointed at, focused or pressed lights up the
// stretches of its line on which it is the largest.

import { keep, newLayer, tag } from "./layer.js"

const HINT = "Point at a part of a bound, or press it: the stretch that it governs lights up."
const WIDTH = 5

// The points of a line from one place on the axis to another, in pixels; both ends are on the line,
// since it is straight between two points.
const between = (points, from, to) => {
  const inner = points.filter(([x]) => x > from && x < to)
  return [at(points, from), ...inner, at(points, to)]
}

const at = (points, x) => {
  const found = points.findIndex((point) => point[0] >= x)
  const i = found < 0 ? points.length - 1 : Math.max(found, 1)
  const [[a, low], [b, high]] = [points[i - 1], points[i]]
  return [x, low + ((high - low) * (x - a)) / (b - a)]
}

const draw = (over) => {
  const { gd, lit, layer } = over
  layer.replaceChildren()
  if (!lit?.part.stretches.length || !gd?._fullLayout?.xaxis) return
  const { xaxis, yaxis } = gd._fullLayout
  const [width, height] = [xaxis._length, yaxis._length]
  const plane = tag("svg", { x: xaxis._offset, y: yaxis._offset, width, height })
  plane.append(tag("rect", { width, height, fill: over.data.page, "fill-opacity": 0.55 }))
  const { colour, points } = lit.bound
  const places = points.map(([x, y]) => [xaxis.d2p(x), yaxis.d2p(y)])
  for (const ends of lit.part.stretches) {
    const [from, to] = ends.map((end) => xaxis.d2p(end))
    plane.append(
      tag("rect", { x: from, width: to - from, height, fill: colour, "fill-opacity": 0.1 }),
      tag("polyline", {
        points: between(places, from, to).join(" "), fill: "none", stroke: colour,
        "stroke-width": WIDTH, "stroke-linecap": "round", class: "stretch",
      }))
  }
  layer.append(plane)
}

const light = (over, lit) => {
  over.lit = lit ?? over.pressed
  over.says.textContent = over.lit?.part.says ?? HINT
  draw(over)
}

const newPart = (over, bound, part) => {
  const button = document.createElement("button")
  const own = { bound, part }
  button.type = "button"
  button.textContent = part.name
  button.className = part.stretches.length ? "" : "never"
  button.setAttribute("aria-pressed", false)
  button.setAttribute("aria-label", `${part.name}, of ${bound.name}`)
  button.onpointerenter = button.onfocus = () => light(over, own)
  button.onpointerleave = button.onblur = () => light(over)
  button.onclick = () => {
    const again = button.getAttribute("aria-pressed") === "true"
    over.root.querySelectorAll("button").forEach((one) => one.setAttribute("aria-pressed", false))
    button.setAttribute("aria-pressed", !again)
    over.pressed = again ? null : own
    light(over)
  }
  return button
}

const newBound = (over, bound) => {
  const row = document.createElement("div")
  const name = document.createElement("span")
  const swatch = tag("svg", { viewBox: "0 0 16 8", "aria-hidden": true })
  swatch.append(tag("line", { x1: 0, x2: 16, y1: 4, y2: 4, stroke: bound.colour, "stroke-width": 3 }))
  name.textContent = `${bound.name}:`
  row.append(swatch, name, ...bound.parts.map((part) => newPart(over, bound, part)))
  return row
}

const newOver = (root) => {
  const over = { root, layer: newLayer({ class: "parts" }) }
  keep(over, draw, () => delete root.over)
  return over
}

export default function ({ data, parentElement: root }) {
  const over = (root.over ??= newOver(root))
  if (over.sent === JSON.stringify(data)) return // the same numbers: what is lit stays lit
  over.sent = JSON.stringify(data)
  over.data = data
  over.says = root.querySelector(".says")
  over.lit = over.pressed = null
  root.querySelector(".bounds").replaceChildren(...data.bounds.map((bound) => newBound(over, bound)))
  light(over)
}
