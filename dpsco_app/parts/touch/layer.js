// What is drawn over a figure of Plotly's: its place, its axes in pixels, lines and names.

// The namespace of drawings, as the browser knows it: a script here holds no address.
const SVG = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI
const WHOLE = "position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; z-index: 5"
export const WATCH_MS = 60
const GONE_MS = 1000 // a place is out of the page for a moment where it is put in anew

export const tag = (name, attributes, text = "") => {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.textContent = text
  return made
}

export const newLayer = (attributes) => tag("svg", { ...attributes, style: WHOLE })

// The figure that this window shows, once Plotly has drawn its axes.
const figureOf = (place) => {
  const all = [...document.querySelectorAll(`[class*="st-key-${place}"] .js-plotly-plot`)]
  return all.filter((gd) => gd.getClientRects().length && gd._fullLayout?.xaxis?.d2p).pop()
}

// Put the layer over the figure, also where Plotly has drawn it anew or the window has changed; with
// `shows`, where that has changed, too.
export const follow = (over, draw) => {
  const gd = figureOf(over.data.figure)
  if (!gd) return
  const { xaxis, yaxis } = gd._fullLayout
  const seen = [xaxis, yaxis].flatMap(({ _offset, _length, range }) => [_offset, _length, ...range])
  seen.push(...(over.shows?.(gd) ?? []))
  if (over.gd === gd && over.layer.parentNode === gd && over.seen === seen.join()) return
  over.gd = gd
  over.seen = seen.join()
  gd.style.position = "relative"
  gd.append(over.layer)
  draw(over)
}

// Keep a layer over its figure while `over.root`, its place, is in the page, and do `over.each` again
// and again. It outlives a change of its numbers, so that what is in it keeps the focus; `gone` comes
// once, when the place has gone.
export const keep = (over, draw, gone) => {
  let seen = Date.now()
  const watch = setInterval(() => {
    if (over.root.isConnected) {
      seen = Date.now()
      follow(over, draw)
      return over.each?.()
    }
    if (Date.now() - seen < GONE_MS) return
    clearInterval(watch)
    over.layer.remove()
    gone()
  }, WATCH_MS)
}

const inside = (value, axis) => Math.min(Math.max(value, 0), axis._length) + axis._offset

export const toPixels = (gd, [x, y]) => {
  const { xaxis, yaxis } = gd._fullLayout
  return [inside(xaxis.d2p(x), xaxis), inside(yaxis.d2p(y), yaxis)]
}

// Text beside a point, on the side that has more room.
export const nameBeside = (gd, [x, y], text, colour, page) => {
  const { xaxis } = gd._fullLayout
  const right = x > xaxis._offset + xaxis._length / 2
  return tag("text", {
    x: right ? x - 16 : x + 16, y, "text-anchor": right ? "end" : "start",
    fill: colour, stroke: page, "stroke-width": 4, "paint-order": "stroke", "font-weight": 700,
  }, text)
}

// The place that is nearest to the pointer along one axis: 0 is the horizontal one.
export const nearestPlace = (gd, places, axis, event) => {
  const box = gd.getBoundingClientRect()
  const hand = [event.clientX - box.left, event.clientY - box.top][axis]
  const gaps = places.map((place) => Math.abs(toPixels(gd, place)[axis] - hand))
  return gaps.indexOf(Math.min(...gaps))
}

// While the pointer is down on `grip`, `move` follows it wherever it goes; `end` comes once.
export const dragged = (grip, move, end) => {
  // A finger here does not scroll the page, which would end the drag: the style alone is not enough.
  grip.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false })
  grip.onpointerdown = (event) => {
    event.preventDefault()
    const stop = () => {
      window.removeEventListener("pointermove", move)
      window.removeEventListener("pointerup", stop)
      window.removeEventListener("pointercancel", stop)
      end()
    }
    window.addEventListener("pointermove", move)
    window.addEventListener("pointerup", stop)
    window.addEventListener("pointercancel", stop)
  }
}
