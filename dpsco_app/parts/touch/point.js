// The point of Geometry's figure, moved by pointer or by keys, and all that follows from it: drawn
// over the figure with the look that the figure gives the same marks. Python has the last word.

import { newHand, placeGrip } from "./grip.js"
import { tag } from "./layer.js"
import { seenFrom } from "./sets.js"

const LONG = 8 // half the length of a line that leaves the picture
const DIAMOND = 1.3
const HALF_UP = 1e-9 // a half is rounded away from 0 in spite of its last digits
const DASHES = { dot: 1, dash: 3 }
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }

const across = (point, [x, y]) => {
  const by = LONG / Math.hypot(x, y)
  return [-by, by].map((side) => [point[0] - y * side, point[1] + x * side])
}

// The points of each mark and line, by the names that Python gives them.
const partsOf = ({ x, nearest, normal, farthest, foot }) => ({
  across: farthest.length ? across(foot, x) : [],
  reach: farthest.length ? [[0, 0], foot] : [],
  touching: normal ? across(nearest, normal) : [],
  residual: normal ? [x, nearest] : [],
  farthest,
  nearest: [nearest],
  point: [x],
})

// As Python writes them.
const coordinates = (point) =>
  `(${point.map((one) => (one + Math.sign(one) * HALF_UP).toFixed(2)).join(", ")})`
    .replaceAll("-0.00", "0.00")

const short = (value) => Number((value * (1 + HALF_UP)).toPrecision(3)).toString()

const sentence = (sentences, { x, nearest, normal, distance, dualNorm, farthest }) => {
  const values = {
    x: coordinates(x), nearest: coordinates(nearest), distance: short(distance),
    reach: short(dualNorm), farthest: farthest.length && coordinates(farthest[0]),
  }
  const parts = [normal ? "outside" : "inside"]
  if (farthest.length) parts.push(farthest.length > 1 ? "edge" : "farthest", "reach")
  const text = parts.map((part) => sentences[part]).join("")
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name])
}

const create = (name, fields) => Object.assign(document.createElement(name), fields)

// Paragraphs with **bold** parts.
const write = (place, text) => {
  if (place.text === text) return
  place.text = text
  place.replaceChildren(...text.split("\n\n").map((paragraph) => {
    const p = create("p", {})
    const parts = paragraph.split("**")
    p.append(...parts.map((part, i) => create(i % 2 ? "strong" : "span", { textContent: part })))
    return p
  }))
}

const mark = ({ color, size, symbol }, [x, y]) => {
  const r = size / 2
  if (symbol === "circle") return tag("circle", { cx: x, cy: y, r, fill: color })
  const far = symbol === "diamond" ? r * DIAMOND : r * Math.SQRT2
  const turned = symbol === "diamond" ? 0 : 45
  const d = `M${far},0L0,${far}L${-far},0L0,${-far}Z`
  return tag("path", { d, fill: color, transform: `translate(${x} ${y}) rotate(${turned})` })
}

const stroke = ({ color, width, dash }, points) => tag("polyline", {
  points: points.join(" "), fill: "none", stroke: color, "stroke-width": width,
  "stroke-dasharray": DASHES[dash] ? DASHES[dash] * Math.max(width, 3) : "none",
})

const named = ({ text, font, xanchor, xshift, yshift }, [x, y]) => tag("text", {
  x: x + 1.1 * xshift, y: y - yshift + font.size / 3, fill: font.color, "font-size": font.size,
  "font-weight": 700, "text-anchor": xanchor === "left" ? "start" : "end",
}, text.replace(/<[^>]*>/g, ""))

// The figure's own marks of what moves, while they are old.
const hide = (gd, hidden, moves) => {
  const old = []
  gd.data.forEach(({ meta }, i) => {
    if (meta in moves) old.push(gd.querySelector(`.scatterlayer .trace${gd._fullData[i].uid}`))
  })
  gd.layout.annotations.forEach(({ name }, i) => {
    if (name in moves) old.push(gd.querySelector(`.annotation[data-index="${i}"]`))
  })
  for (const node of old) node?.style.setProperty("visibility", hidden ? "hidden" : "visible")
}

const drawOver = (hand, seen) => {
  const { gd } = hand
  const { xaxis, yaxis } = gd._fullLayout
  const inside = tag("svg", {
    x: xaxis._offset, y: yaxis._offset, width: xaxis._length, height: yaxis._length,
  })
  const parts = partsOf(seen)
  const pixels = ([x, y]) => [xaxis.d2p(x), yaxis.d2p(y)]
  for (const { meta, mode, line, marker } of gd.data) {
    const points = (parts[meta] ?? []).map(pixels)
    if (mode.includes("lines") && points.length > 1) inside.append(stroke(line, points))
    if (mode.includes("markers")) inside.append(...points.map((point) => mark(marker, point)))
  }
  hand.drawn.append(inside)
  for (const one of gd.layout.annotations) {
    const last = parts[one.name]?.at(-1)
    if (!last?.every((value) => Math.abs(value) <= xaxis.range[1])) continue
    const [x, y] = pixels(last)
    hand.drawn.append(named(one, [x + xaxis._offset, y + yaxis._offset]))
  }
}

const same = (a, b) => a[0] === b[0] && a[1] === b[1]

// Where the figure itself has the point.
const shownIn = (gd) => {
  const [shown] = gd.calcdata?.[gd.data.findIndex(({ meta }) => meta === "point")] ?? []
  return shown ? [shown.x, shown.y] : []
}

const draw = (hand) => {
  const { data, gd, at, held, root } = hand
  const seen = seenFrom(data.set, at)
  const said = root.querySelector(".said")
  said.setAttribute("aria-busy", held) // while the point moves nobody is told of every place
  write(said, !held && same(at, data.at) ? data.said : sentence(data.sentences, seen))
  if (!gd?._fullLayout?.xaxis || !gd.layout.annotations) return // on its way to another page
  const { xaxis, yaxis } = gd._fullLayout
  const still = !held && same(shownIn(gd), at)
  hide(gd, !still, partsOf(seen))
  hand.drawn.replaceChildren()
  if (!still) drawOver(hand, seen)
  placeGrip(hand, [xaxis._offset + xaxis.d2p(at[0]), yaxis._offset + yaxis.d2p(at[1])], {
    label: "Point x", roledescription: "point in the plane", valuemin: -data.limit,
    valuemax: data.limit, valuenow: at[0], valuetext: `x = ${coordinates(at)}`,
  })
}

// As far as the picture goes, to hundredths.
const put = (hand, point) => {
  const { data, gd } = hand
  const most = Math.floor(100 * Math.min(data.limit, gd._fullLayout.xaxis.range[1])) / 100
  hand.at = point.map((one) => Math.round(100 * Math.min(Math.max(one, -most), most)) / 100)
  draw(hand)
}

const moving = (hand) => ({
  steps: STEPS,
  step: (by) => put(hand, hand.at.map((one, j) => one + by[j] * hand.data.step)),
  move: ({ clientX, clientY }) => {
    const { xaxis, yaxis } = hand.gd._fullLayout
    const box = hand.gd.getBoundingClientRect()
    const place = [xaxis.p2d(clientX - box.left - xaxis._offset),
      yaxis.p2d(clientY - box.top - yaxis._offset)]
    put(hand, place)
  },
  end: () => {
    const { data, at } = hand
    draw(hand)
    if (!same(at, data.at)) hand.tell(at)
  },
})

export default function ({ data, parentElement: root, setTriggerValue }) {
  const hand = (root.hand ??= newHand(root, draw, "move", moving))
  hand.shows = shownIn
  root.querySelector(".hint").textContent =
    "Drag x in the figure, or focus it and press the arrow keys."
  hand.data = data
  hand.tell = (chosen) => setTriggerValue("chosen", chosen)
  if (!hand.held) hand.at = data.at
  draw(hand)
}
