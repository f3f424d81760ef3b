// A prediction that is drawn into a figure: by its handle there, or by the slider and its keys.

const GRIP = 11
const LAND_MS = 1800 // for all trials together

// The namespace of drawings, as the browser knows it: a script here holds no address.
const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI

const tag = (name, attributes, text = "") => {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.textContent = text
  return made
}

// The figure that this window shows, once Plotly has drawn its axes.
const figureOf = (place) => {
  const all = [...document.querySelectorAll(`[class*="st-key-${place}"] .js-plotly-plot`)]
  return all.filter((gd) => gd.getClientRects().length && gd._fullLayout?.xaxis?.d2p).pop()
}

const inside = (value, axis) => Math.min(Math.max(value, 0), axis._length) + axis._offset

const toPixels = (gd, [x, y]) => {
  const { xaxis, yaxis } = gd._fullLayout
  return [inside(xaxis.d2p(x), xaxis), inside(yaxis.d2p(y), yaxis)]
}

const drawTrials = (layer, gd, { trials, colours }, count) => {
  for (const trial of trials.slice(0, count)) {
    const [cx, cy] = toPixels(gd, trial)
    layer.append(tag("circle", { cx, cy, r: 4, fill: colours.measured, opacity: 0.6 }))
  }
}

// The line of the prediction: from a given point, along the axis it is read on, or up to its top.
const drawLine = (layer, gd, data, [x, y], colour) => {
  const { xaxis, yaxis } = gd._fullLayout
  const ends = data.upright ? [x, yaxis._offset, x, yaxis._offset + yaxis._length]
    : data.start ? [...toPixels(gd, data.start), x, y]
      : [xaxis._offset, y, xaxis._offset + xaxis._length, y]
  const [x1, y1, x2, y2] = ends
  layer.append(tag("line", { x1, y1, x2, y2, stroke: colour, "stroke-width": 2, "stroke-dasharray": "7 4" }))
}

const drawName = (layer, gd, { colours }, [x, y], text, colour, below = false) => {
  const { xaxis } = gd._fullLayout
  const right = x > xaxis._offset + xaxis._length / 2
  layer.append(tag("text", {
    x: right ? x - 16 : x + 16, y: below ? y + 20 : y - 12, "text-anchor": right ? "end" : "start",
    fill: colour, stroke: colours.page, "stroke-width": 4, "paint-order": "stroke", "font-weight": 700,
  }, text))
}

const draw = (asked) => {
  const { data, layer, gd, at, count } = asked
  if (!gd?._fullLayout?.xaxis) return // on its way to another page
  const { colours } = data
  layer.replaceChildren()
  const open = at === null
  const point = toPixels(gd, data.places[open ? asked.middle : at])
  if (data.upright) point[1] = gd._fullLayout.yaxis._offset + gd._fullLayout.yaxis._length / 3
  drawTrials(layer, gd, data, count)
  if (!open) drawLine(layer, gd, data, point, colours.you)
  if (data.measured && count >= data.trials.length) {
    const there = toPixels(gd, data.measured.at)
    if (data.upright) there[1] = point[1] + 40
    drawLine(layer, gd, data, there, colours.measured)
    const name = `measured: ${data.measured.text}`
    drawName(layer, gd, data, there, name, colours.measured, there[1] >= point[1])
  }
  const above = data.measured ? toPixels(gd, data.measured.at)[1] : point[1]
  drawName(layer, gd, data, point, open ? "drag me to your prediction" : `you: ${data.texts[at]}`,
    colours.you, !data.upright && above < point[1])
  const grip = tag("circle", {
    cx: point[0], cy: point[1], r: GRIP, fill: open ? colours.page : colours.you,
    stroke: colours.you, "stroke-width": 3, class: "grip",
    style: `pointer-events: all; touch-action: none; cursor: ${data.upright ? "ew" : "ns"}-resize`,
  })
  listen(asked, grip)
  layer.append(grip)
}

// The answer whose place in the figure is nearest to the pointer.
const nearest = ({ data, gd }, event) => {
  const box = gd.getBoundingClientRect()
  const axis = data.upright ? 0 : 1
  const hand = [event.clientX - box.left, event.clientY - box.top][axis]
  const gaps = data.places.map((place) => Math.abs(toPixels(gd, place)[axis] - hand))
  return gaps.indexOf(Math.min(...gaps))
}

const listen = (asked, grip) => {
  grip.onpointerdown = (event) => {
    event.preventDefault()
    const move = (now) => choose(asked, nearest(asked, now))
    const end = () => {
      window.removeEventListener("pointermove", move)
      window.removeEventListener("pointerup", end)
      window.removeEventListener("pointercancel", end)
      send(asked)
    }
    window.addEventListener("pointermove", move)
    window.addEventListener("pointerup", end)
    window.addEventListener("pointercancel", end)
  }
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

// Put the layer over the figure, also where Plotly has drawn it anew or the window has changed.
const follow = (asked) => {
  const gd = figureOf(asked.data.figure)
  if (!gd) return
  const { xaxis, yaxis } = gd._fullLayout
  const seen = [xaxis._offset, xaxis._length, yaxis._offset, yaxis._length, ...xaxis.range, ...yaxis.range]
  if (asked.gd === gd && asked.layer.parentNode === gd && asked.seen === seen.join()) return
  asked.gd = gd
  asked.seen = seen.join()
  gd.style.position = "relative"
  gd.append(asked.layer)
  draw(asked)
}

// Trials land one after the other, but for who asks for stillness.
const land = (asked) => {
  const all = asked.data.trials.length
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches
  const begin = performance.now()
  const step = (time) => {
    asked.count = still ? all : Math.min(all, Math.ceil((all * (time - begin)) / LAND_MS))
    draw(asked)
    if (asked.count < all && asked.layer.isConnected) requestAnimationFrame(step)
    else asked.count = all
  }
  requestAnimationFrame(step)
}

export default function ({ data, parentElement: root, setStateValue }) {
  root.stop?.() // what was drawn from older data
  const middle = Math.floor(data.texts.length / 2)
  const layer = tag("svg", { class: "prediction", "aria-hidden": "true", style:
    "position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; z-index: 5" })
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
  const watch = setInterval(() => follow(asked), 150)
  follow(asked)
  if (data.fresh && root.landed !== data.fresh) {
    root.landed = data.fresh
    land(asked)
  }
  root.stop = () => {
    clearInterval(watch)
    layer.remove()
  }
  return root.stop
}
