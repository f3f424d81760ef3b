// The chosen point of a figure: a handle on its axis, by pointer or by keys. Python does the rest.

import { dragged, follow, nameBeside, nearestPlace, newLayer, tag, toPixels } from "./layer.js"

const GRIP = 8
const REACH = 22 // of a finger, around the grip
const KEYS_MS = 500 // a value that the keys have rested on is let go
const STAY_MS = 10_000 // so long the focus comes back where a new figure has taken it away
const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -1000, End: 1000 }

const saying = ({ data, at }) => `${data.symbol} = ${data.texts[at]}`

const draw = (hand) => {
  const { data, layer, gd, grip, at } = hand
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
  grip.setAttribute("transform", `translate(${x} ${top + height})`)
  grip.setAttribute("aria-label", `Chosen ${data.symbol}`)
  grip.setAttribute("aria-valuemax", data.values.length - 1)
  grip.setAttribute("aria-valuenow", at)
  grip.setAttribute("aria-valuetext", saying(hand))
  grip.lastChild.setAttribute("fill", ink)
  grip.lastChild.setAttribute("stroke", page)
  const lost = document.activeElement === document.body
  if (lost && Date.now() - hand.keyed < STAY_MS) grip.focus({ preventScroll: true })
}

const put = (hand, at) => {
  hand.at = Math.min(Math.max(at, 0), hand.data.values.length - 1)
  draw(hand)
}

const letGo = (hand, after) => {
  clearTimeout(hand.letting)
  hand.letting = setTimeout(() => {
    hand.held = false
    const { data, at } = hand
    if (at !== data.at) hand.tell([data.field, data.values[at]])
  }, after)
}

const newGrip = (hand) => {
  const style = "pointer-events: all; touch-action: none; cursor: ew-resize"
  const grip = tag("g", { role: "slider", tabindex: 0, "aria-valuemin": 0, class: "grip", style })
  const ring = tag("circle", { r: GRIP + 5, fill: "none", stroke: "currentColor", "stroke-width": 0 })
  grip.append(tag("circle", { r: REACH, fill: "transparent" }), ring,
    tag("circle", { r: GRIP, "stroke-width": 2 }))
  const places = () => hand.data.values.map((value) => [value, 0])
  dragged(grip, (event) => {
    hand.held = true
    put(hand, nearestPlace(hand.gd, places(), 0, event))
  }, () => letGo(hand, 0))
  grip.onkeydown = (event) => {
    const step = STEPS[event.key]
    if (!step) return
    event.preventDefault()
    hand.held = true
    hand.keyed = Date.now()
    put(hand, hand.at + step)
    letGo(hand, KEYS_MS)
  }
  grip.style.outline = "none"
  grip.onfocus = () => ring.setAttribute("stroke-width", grip.matches(":focus-visible") ? 3 : 0)
  grip.onblur = () => ring.setAttribute("stroke-width", 0)
  return grip
}

const newHand = (root) => {
  const hand = { root, held: false, drawn: tag("g", {}), layer: newLayer({ class: "hand" }) }
  hand.grip = newGrip(hand)
  hand.layer.append(hand.drawn, hand.grip)
  // It outlives a change of its numbers, so that it keeps the focus; it goes with its place.
  const watch = setInterval(() => {
    if (root.isConnected) return follow(hand, draw)
    clearInterval(watch)
    hand.layer.remove()
  }, 150)
  return hand
}

export default function ({ data, parentElement: root, setTriggerValue }) {
  const hand = (root.hand ??= newHand(root))
  hand.data = data
  hand.tell = (chosen) => setTriggerValue("chosen", chosen)
  if (!hand.held) hand.at = data.at
  root.querySelector(".hint").textContent =
    `Drag the dot on the axis to choose ${data.symbol}, or focus it and press ← or →.`
  draw(hand)
}
