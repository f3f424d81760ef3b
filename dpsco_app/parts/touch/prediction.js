// A prediction that is drawn into a figure: by its handle there, or by the slider and its keys.

import { ask, drawTrials } from "./landing.js"
import { dragged, nearestPlace, newLayer, tag, toPixels } from "./layer.js"
import { writeAt } from "./names.js"

const GRIP = 11

// The line of an answer: from a given point, along the axis it is read on, or up to its top.
const strokeOf = (gd, data, [x, y]) => {
  const { xaxis, yaxis } = gd._fullLayout
  if (data.upright) return [x, yaxis._offset, x, yaxis._offset + yaxis._length]
  if (data.start) return [...toPixels(gd, data.start), x, y]
  return [xaxis._offset, y, xaxis._offset + xaxis._length, y]
}

const drawLine = (layer, [x1, y1, x2, y2], colour) =>
  layer.append(tag("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": 2, "stroke-dasharray": "7 4" }))

const draw = (asked) => {
  const { data, layer, gd, at, count } = asked
  if (!gd?._fullLayout?.xaxis) return // on its way to another page
  const { colours } = data
  layer.replaceChildren()
  const open = at === null
  const point = toPixels(gd, data.places[open ? asked.middle : at])
  if (data.upright) point[1] = gd._fullLayout.yaxis._offset + gd._fullLayout.yaxis._length / 3
  drawTrials(layer, gd, data, count)
  const answers = [[open ? "drag me" : `you: ${data.texts[at]}`, point, colours.you]]
  if (data.measured && count >= data.trials.length) {
    const [text, place] = data.measured
    const there = toPixels(gd, place)
    if (data.upright) there[1] = point[1] + 40
    answers.unshift([`measured: ${text}`, there, colours.measured])
  }
  const strokes = answers.map(([, place]) => strokeOf(gd, data, place))
  answers.forEach(([, , colour], i) => {
    if (!open || colour !== colours.you) drawLine(layer, strokes[i], colour)
  })
  const grip = tag("circle", {
    cx: point[0], cy: point[1], r: GRIP, fill: open ? colours.page : colours.you,
    stroke: colours.you, "stroke-width": 3, class: "grip",
    style: `pointer-events: all; touch-action: none; cursor: ${data.upright ? "ew" : "ns"}-resize`,
  })
  const axis = data.upright ? 0 : 1
  const move = (event) => choose(asked, nearestPlace(asked.gd, data.places, axis, event))
  dragged(grip, move, () => send(asked))
  layer.append(grip)
  answers.forEach(([text, place, colour], i) => {
    const line = { stroke: strokes[i], point: place, strokes }
    writeAt(layer, gd, line, text, colour, colours.page)
  })
}

const say = ({ root, data, at }) => {
  const input = root.querySelector("input")
  const text = at === null ? "No prediction yet" : `Your prediction: ${data.texts[at]}`
  root.querySelector(".ask").classList.toggle("open", at === null)
  root.querySelector("output").textContent =
    at === null ? "Drag the handle in the figure, or use this slider." : text
  input.setAttribute("aria-valuetext", text)
}

const choose = (asked, at) => {
  asked.at = at
  asked.root.querySelector("input").value = at
  say(asked)
  draw(asked)
}

const send = (asked) => {
  clearTimeout(asked.sending)
  asked.sending = setTimeout(() => asked.tell(asked.at), 200)
}

export default function ({ data, parentElement: root, setStateValue }) {
  const middle = Math.floor(data.texts.length / 2)
  const layer = newLayer({ class: "prediction", "aria-hidden": "true" })
  const asked = {
    root, data, layer, middle, at: data.chosen, count: data.trials.length,
    tell: (at) => setStateValue("answer", at),
  }
  const input = root.querySelector("input")
  root.querySelector(".question").textContent = data.question
  input.max = data.texts.length - 1
  input.value = data.chosen === null ? middle : data.chosen
  input.oninput = () => choose(asked, Number(input.value))
  input.onclick = input.oninput
  input.onchange = () => send(asked)
  input.onpointerup = () => send(asked)
  input.onkeydown = (event) => {
    if (event.key !== " ") return
    choose(asked, Number(input.value)) // the middle is an answer, too
    send(asked)
  }
  say(asked)
  return ask(asked, draw)
}
