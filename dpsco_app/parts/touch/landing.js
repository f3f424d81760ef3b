// A question that a figure answers: what has been measured lands there, trial by trial.

import { follow, tag, toPixels, WATCH_MS } from "./layer.js"

const LAND_MS = 1800 // for all trials together

export const drawTrials = (layer, gd, { trials, colours }, count) => {
  for (const [x, y] of trials.slice(0, count)) {
    const [cx, cy] = toPixels(gd, [x, y])
    layer.append(tag("circle", { cx, cy, r: 4, fill: colours.measured, opacity: 0.6 }))
  }
}

// After a run, once: the trials land one after the other, but for who asks for stillness.
const land = (asked, draw) => {
  const { data, root } = asked
  if (!data.fresh || root.landed === data.fresh) return
  root.landed = data.fresh
  const all = data.trials.length
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

// Keep the layer of a question over its figure, until it is asked anew from newer data.
export const ask = (asked, draw) => {
  const { root, layer } = asked
  root.stop?.()
  const watch = setInterval(() => follow(asked, draw), WATCH_MS)
  follow(asked, draw)
  land(asked, draw)
  root.stop = () => {
    clearInterval(watch)
    layer.remove()
  }
  return root.stop
}
