// The answers to a question that are points of a figure: a click near one chooses it, and a ring
// marks the chosen one. Keys choose among the radio buttons below the question.

import { ask } from "./landing.js"
import { newLayer, tag, toPixels } from "./layer.js"

const RING = 12

const nearest = (gd, places, { clientX, clientY }) => {
  const box = gd.getBoundingClientRect()
  const gaps = places.map((place) => {
    const [x, y] = toPixels(gd, place)
    return Math.hypot(clientX - box.left - x, clientY - box.top - y)
  })
  return gaps.indexOf(Math.min(...gaps))
}

const draw = ({ data, layer, gd, tell }) => {
  if (!gd?._fullLayout?.xaxis) return // on its way to another page
  const { xaxis, yaxis } = gd._fullLayout
  const area = tag("rect", {
    x: xaxis._offset, y: yaxis._offset, width: xaxis._length, height: yaxis._length,
    fill: "transparent", class: "area", style: "pointer-events: all; cursor: pointer",
  })
  area.onclick = (event) => tell(nearest(gd, data.places, event))
  layer.replaceChildren(area)
  if (data.chosen === null) return
  const [cx, cy] = toPixels(gd, data.places[data.chosen])
  const ring = { cx, cy, r: RING, fill: "none", stroke: data.colour, "stroke-width": 3 }
  layer.append(tag("circle", { ...ring, class: "ring" }))
}

export default function ({ data, parentElement: root, setTriggerValue }) {
  const layer = newLayer({ class: "choices", "aria-hidden": "true" })
  const asked = { root, data, layer, tell: (number) => setTriggerValue("choice", number) }
  return ask(asked, draw)
}
