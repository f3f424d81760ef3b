// The chosen point of a figure: a handle on its axis, by pointer or by keys. Python does the rest.

import { newHand, placeGrip } from "./grip.js"
import { nameBeside, nearestPlace, tag, toPixels } from "./layer.js"

const AXIS = 32 // pixels below a figure that its numbers take
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -1000, End: 1000 }

const saying = ({ data, at }) => `${data.symbol} = ${data.texts[at]}`

const draw = (hand) => {
  const { data, gd, at } = hand
  if (!gd?._fullLayout?.xaxis) return // on its way to another page
  const { ink, page } = data.colours
  const { _offset: top, _length: height } = gd._fullLayout.yaxis
  const [x] = toPixels(gd, [data.values[at], 0])
  hand.drawn.replaceChildren()
  if (at !== data.at) {
    hand.drawn.append(
      tag("line", { x1: x, x2: x, y1: top, y2: top + height, stroke: ink, "stroke-width": 2 }),
      nameBeside(gd, [x, top + height - 16], saying(hand), ink, page))
  }
  placeGrip(hand, [x, top + height], {
    label: `Chosen ${data.symbol}`, valuemin: 0, valuemax: data.values.length - 1, valuenow: at,
    valuetext: saying(hand),
  })
}

const put = (hand, at) => {
  hand.at = Math.min(Math.max(at, 0), hand.data.values.length - 1)
  draw(hand)
}

const moving = (hand) => ({
  steps: STEPS,
  step: (by) => put(hand, hand.at + by),
  move: (event) => {
    const places = hand.data.values.map((value) => [value, 0])
    put(hand, nearestPlace(hand.gd, places, 0, event))
  },
  // The axis is pressed as its grip is, also on a new figure that has no grip yet.
  presses: (gd, { clientX, clientY }) => {
    const { xaxis, yaxis } = gd._fullLayout
    const { left, top } = gd.getBoundingClientRect()
    const [x, y] = [clientX - left - xaxis._offset, clientY - top - yaxis._offset - yaxis._length]
    return x >= 0 && x <= xaxis._length && y >= 0 && y <= AXIS
  },
  end: () => {
    const { data, at } = hand
    if (at !== data.at) hand.tell([data.field, data.values[at]])
  },
})

export default function ({ data, parentElement: root, setTriggerValue }) {
  const hand = (root.hand ??= newHand(root, draw, "ew-resize", moving))
  hand.data = data
  hand.tell = (chosen) => setTriggerValue("chosen", chosen)
  if (!hand.held) hand.at = data.at
  draw(hand)
}
