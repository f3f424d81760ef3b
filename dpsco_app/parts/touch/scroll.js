// A text that scrolls past the picture: the step that is being read sets the picture's state.

import { setState, show } from "./picture.js"

const PHONE = matchMedia("(max-width: 560px), (max-width: 760px) and (min-height: 601px)")
const LINE = 40 // pixels: some browsers count a wheel in lines
const BELOW_PICTURE = 12 // pixels between the picture and the text below it
const REST_MS = 200 // without a movement, and a jump is over
const STILL = matchMedia("(prefers-reduced-motion: reduce)")

const create = (name, fields, parent) =>
  parent.appendChild(Object.assign(document.createElement(name), fields))

// The texts of the steps, and a button for each.
const write = (root, steps) => {
  const nav = root.querySelector("nav")
  const told = root.querySelector(".told")
  nav.replaceChildren()
  told.replaceChildren()
  return steps.map(({ title, text, leads }, i) => {
    const section = create("section", {}, told)
    create("h2", { textContent: title }, section)
    for (const paragraph of text) create("p", { innerHTML: paragraph }, section)
    for (const [label, href] of leads) create("a", { textContent: label, href }, create("p", {}, section))
    const button = create("button", { type: "button", textContent: i + 1, title }, nav)
    button.setAttribute("aria-label", `Step ${i + 1}: ${title}`)
    return { section, button }
  })
}

const begin = (root, data) => {
  const picture = show(root, data)
  const steps = write(root, data.steps)
  const [told, pinned] = [".told", ".pinned"].map((query) => root.querySelector(query))
  const scroll = { steps, told, pinned, here: -1, jumps: false }
  scroll.arrive = (place) => {
    if (place === scroll.here) return
    scroll.here = place
    steps.forEach(({ section, button }, i) => {
      section.classList.toggle("here", i === place)
      if (i === place) button.setAttribute("aria-current", "step")
      else button.removeAttribute("aria-current")
    })
    setState(picture, data.steps[place].state)
  }
  const go = (place) => {
    const there = Math.min(steps.length - 1, Math.max(0, place))
    const { section, button } = steps[there]
    scroll.arrive(there)
    scroll.jumps = true
    scroll.rest()
    const behavior = STILL.matches ? "instant" : "smooth"
    const [box, text] = [told, section].map((element) => element.getBoundingClientRect())
    if (!apart(scroll)) {
      const above = parseFloat(getComputedStyle(pinned).top) + pinned.offsetHeight + BELOW_PICTURE
      section.style.scrollMarginTop = `${above}px`
      section.scrollIntoView({ block: "start", behavior })
    } else told.scrollTo({ top: told.scrollTop + text.top - box.top, behavior })
    button.focus({ preventScroll: true })
  }
  steps.forEach(({ button }, i) => {
    button.onclick = () => go(i)
    button.onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
      if (!by) return
      event.preventDefault()
      go(i + by)
    }
  })
  scroll.arrive(0)
  return scroll
}

// Beside the picture, and not below it, the text scrolls in a place of its own.
const apart = ({ told }) => told.scrollHeight > told.clientHeight + 1

// The step that is being read: the last one that has come above the middle of what the picture
// leaves free. It follows from the place alone, however a hand got there.
const readAt = (scroll) => {
  const { steps, told } = scroll
  const { top, height } = told.getBoundingClientRect()
  const line = apart(scroll) ? top + 0.45 * height : innerHeight * (PHONE.matches ? 0.75 : 0.5)
  return Math.max(0, steps.findLastIndex(({ section }) => section.getBoundingClientRect().top < line))
}

// Follow the hand; a jump passes steps that nobody reads. Returns how to stop.
const watch = (scroll) => {
  let waiting = 0
  let resting = 0
  const follow = () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0
      if (!scroll.jumps) scroll.arrive(readAt(scroll))
    })
  }
  scroll.rest = () => {
    clearTimeout(resting)
    resting = setTimeout(() => {
      scroll.jumps = false
      follow()
    }, REST_MS)
  }
  const moved = () => {
    scroll.rest()
    follow()
  }
  // Wherever the wheel is turned, as long as there is text left; then the page goes on.
  const turn = (event) => {
    const { told } = scroll
    const left = event.deltaY < 0 ? told.scrollTop : told.scrollHeight - told.clientHeight - told.scrollTop
    if (!apart(scroll) || left <= 1 || event.ctrlKey) return
    event.preventDefault()
    told.scrollTop += event.deltaY * (event.deltaMode ? LINE : 1)
  }
  scroll.pinned.addEventListener("wheel", turn, { passive: false })
  document.addEventListener("scroll", moved, { capture: true, passive: true })
  scroll.told.addEventListener("scroll", moved, { passive: true })
  addEventListener("resize", moved)
  follow()
  return () => {
    clearTimeout(resting)
    document.removeEventListener("scroll", moved, { capture: true })
    scroll.told.removeEventListener("scroll", moved)
    scroll.pinned.removeEventListener("wheel", turn)
    removeEventListener("resize", moved)
  }
}

export default function ({ data, parentElement: root }) {
  if (root.scroll?.id === data.id) show(root, data)
  else root.scroll = Object.assign(begin(root, data), { id: data.id })
  root.scroll.stop?.()
  root.scroll.stop = watch(root.scroll)
  return root.scroll.stop
}
