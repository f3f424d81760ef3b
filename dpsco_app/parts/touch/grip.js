// A grip that a pointer or a key moves over a figure of Plotly's: its look, its focus, and when what
// it holds is let go.

import { dragged, keep, newLayer, tag } from "./layer.js"

const GRIP = 8
const REACH = 22 // of a finger, around the grip
const KEYS_MS = 500 // a value that the keys have rested on is let go
const STAY_MS = 10_000 // so long the focus comes back where a new figure has taken it away

const letGo = (hand, { end }, after) => {
  clearTimeout(hand.letting)
  hand.letting = setTimeout(() => {
    hand.held = false
    end()
  }, after)
}

const newGrip = (hand, cursor, does) => {
  const style = `pointer-events: all; touch-action: none; cursor: ${cursor}; outline: none`
  const grip = tag("g", { role: "slider", tabindex: 0, class: "grip", style })
  const ring = tag("circle", { r: GRIP + 5, fill: "none", stroke: "currentColor", "stroke-width": 0 })
  grip.append(tag("circle", { r: REACH, fill: "transparent" }), ring,
    tag("circle", { r: GRIP, "stroke-width": 2 }))
  dragged(grip, (event) => {
    hand.held = true
    if (hand.gd._fullLayout?.xaxis) does.move(event) // a new figure may be on its way
  }, () => letGo(hand, does, 0))
  grip.onkeydown = (event) => {
    const step = does.steps[event.key]
    if (!step) return
    event.preventDefault()
    hand.held = true
    hand.keyed = Date.now()
    does.step(step)
    letGo(hand, does, KEYS_MS)
  }
  grip.onfocus = () => ring.setAttribute("stroke-width", grip.matches(":focus-visible") ? 3 : 0)
  grip.onblur = () => ring.setAttribute("stroke-width", 0)
  return grip
}

// Put the grip at [x, y] of the figure, and say what it holds, with the attributes of ARIA's slider.
export const placeGrip = ({ grip, data }, [x, y], says) => {
  grip.setAttribute("transform", `translate(${x} ${y})`)
  for (const [name, value] of Object.entries(says)) grip.setAttribute(`aria-${name}`, value)
  grip.lastChild.setAttribute("fill", data.colours.ink)
  grip.lastChild.setAttribute("stroke", data.colours.page)
}

// A figure that is not yet shown refuses the focus: so it is offered again.
const refocus = ({ grip, keyed }) => {
  const lost = document.activeElement === document.body
  if (lost && Date.now() - keyed < STAY_MS) grip.focus({ preventScroll: true })
}

// A layer over the figure with a grip, which `draw` fills. What `does` is: `steps` and `step` for
// keys, `move` for a pointer, and `end` when it is let go; `presses` says whether a pointer that goes
// down on a figure takes the grip, too.
export const newHand = (root, draw, cursor, does) => {
  const hand = { root, held: false, drawn: tag("g", {}), layer: newLayer({ class: "hand" }) }
  const way = does(hand)
  hand.grip = newGrip(hand, cursor, way)
  hand.layer.append(hand.drawn, hand.grip)
  hand.each = () => refocus(hand)
  const pressed = (event) => {
    hand.keyed = 0 // who points at something is done with the keys
    const gd = event.target.closest?.(`[class*="st-key-${hand.data.figure}"] .js-plotly-plot`)
    if (!gd?._fullLayout?.xaxis || event.target.closest(".grip") || !way.presses?.(gd, event)) return
    hand.gd = gd
    hand.grip.onpointerdown(event)
    hand.held = true
    way.move(event)
  }
  window.addEventListener("pointerdown", pressed, true)
  keep(hand, draw, () => {
    window.removeEventListener("pointerdown", pressed, true)
    delete root.hand
  })
  return hand
}
