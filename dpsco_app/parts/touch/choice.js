// Answers that stand in a figure, each as a line, a band or a mark: one is chosen there by a click,
// or by its button beside the figure.

import { ask, drawTrials } from "./landing.js"
import { newLayer, tag, toPixels, writeNear } from "./layer.js"

const REACH = 18 // of a pointer, around a line
const MARK = 8
const NARROW = 600 // pixels: no room for an answer in words

const shapeOf = (gd, { points, band }, look) => {
  const places = points.map((point) => toPixels(gd, point))
  const [[x, y]] = places
  if (band) {
    const { _offset, _length: height } = gd._fullLayout.yaxis
    return tag("rect", { ...look, x, y: _offset, width: places[1][0] - x, height })
  }
  if (places.length === 1) return tag("circle", { r: MARK, ...look, cx: x, cy: y })
  return tag("polyline", { ...look, points: places.join(" "), fill: "none" })
}

const writeName = (layer, gd, { points, band, text }, { you, page }, before) => {
  const { _offset: top, _length: height } = gd._fullLayout.yaxis
  const places = points.map((point) => toPixels(gd, point))
  const [x, y] = places[Math.floor((places.length - 1) / 2)]
  const at = band ? [(x + places[1][0]) / 2, top + 0.15 * height]
    : [x, y]
  const words = gd._fullLayout.width < NARROW ? (before ? "your answer" : "") : before + text
  if (words) writeNear(layer, gd, at, words, you, page)
}

const paint = (asked) => {
  const { data, gd, shown } = asked
  if (!gd?._fullLayout?.xaxis) return // on its way to another page
  const { you, page } = data.colours
  const { chosen } = data
  asked.drawn.replaceChildren()
  drawTrials(asked.drawn, gd, data, asked.count)
  data.answers.forEach((answer, i) => {
    if (data.done && i !== chosen) return // once it is measured only the answer given stays
    const bold = i === chosen || i === shown
    asked.drawn.append(shapeOf(gd, answer, {
      class: i === chosen ? "answer chosen" : "answer", stroke: you, opacity: bold ? 1 : 0.5,
      "stroke-width": bold ? 3 : 1.5, "stroke-dasharray": "7 4",
      fill: answer.band || i === chosen ? you : page, "fill-opacity": answer.band ? 0.07 : 1,
    }))
  })
  data.answers.forEach((answer, i) => {
    const open = answer.points.length === 1 && !data.done // a mark says what it is
    if (!open && i !== (shown ?? chosen)) return
    writeName(asked.drawn, gd, answer, data.colours, i === chosen ? "you: " : "")
  })
}

const show = (asked, i) => {
  asked.shown = i
  paint(asked)
}

// What the pointer meets is drawn anew only where the figure has changed.
const draw = (asked) => {
  const { data, gd } = asked
  if (!gd?._fullLayout?.xaxis) return
  asked.hits.replaceChildren()
  data.answers.forEach((answer, i) => {
    if (data.done) return
    const whole = answer.band || answer.points.length === 1
    const hit = shapeOf(gd, answer, {
      class: "hit", stroke: "transparent", "stroke-width": REACH, fill: "transparent",
      style: `pointer-events: ${whole ? "all" : "stroke"}; cursor: pointer`,
    })
    hit.onclick = () => asked.tell(i)
    hit.onpointerenter = () => show(asked, i)
    hit.onpointerleave = () => show(asked, null)
    asked.hits.append(hit)
  })
  paint(asked)
}

export default function ({ data, parentElement: root, setTriggerValue }) {
  const layer = newLayer({ class: "prediction", "aria-hidden": "true" })
  const asked = {
    root, data, layer, drawn: tag("g", {}), hits: tag("g", {}), shown: null,
    count: data.trials.length, tell: (at) => setTriggerValue("answer", at),
  }
  layer.append(asked.drawn, asked.hits)
  root.querySelector(".hint").textContent =
    data.done ? "" : "Or click your answer in the figure: each is a dashed shape."
  return ask(asked, draw)
}
