// A text that scrolls past the picture: the step that is being read sets the picture's state.

import { setState, show } from "./picture.js"

const PHONE = matchMedia("(max-width: 760px)")
const STILL = matchMedia("(prefers-reduced-motion: reduce)")

const create = (name, fields, parent) =>
  parent.appendChild(Object.assign(document.createElement(name), fields))

// The texts of the steps, and a button for each.
const write = (root, steps) => {
  const nav = root.querySelector("nav")
  const told = root.querySelector(".told")
  nav.replaceChildren()
  told.replaceChildren()
  return steps.map(({ title, text }, i) => {
    const section = create("section", {}, told)
    create("h2", { textContent: title }, section)
    for (const paragraph of text) create("p", { innerHTML: paragraph }, section)
    const button = create("button", { type: "button", textContent: i + 1, title }, nav)
    button.setAttribute("aria-label", `Step ${i + 1}: ${title}`)
    return { section, button }
  })
}

const begin = (root, data) => {
  const picture = show(root, data)
  const steps = write(root, data.steps)
  let here = -1
  const arrive = (place) => {
    if (place === here) return
    here = place
    steps.forEach(({ section, button }, i) => {
      section.classList.toggle("here", i === place)
      if (i === place) button.setAttribute("aria-current", "step")
      else button.removeAttribute("aria-current")
    })
    setState(picture, data.steps[place].state)
  }
  const go = (place) => {
    const to = steps[Math.min(steps.length - 1, Math.max(0, place))]
    to.section.scrollIntoView({ block: "center", behavior: STILL.matches ? "instant" : "smooth" })
    to.button.focus({ preventScroll: true })
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
  arrive(0)
  return { steps, arrive }
}

// Arrive at each step that crosses the middle of what the picture leaves free; returns how to stop.
const watch = ({ steps, arrive }) => {
  let observer = null
  const observe = () => {
    observer?.disconnect()
    const [above, below] = PHONE.matches ? [74, 25] : [49, 50]
    observer = new IntersectionObserver((entries) => {
      // In the order of the sections, not of time, where a fast hand has passed several.
      const [last] = entries.filter((one) => one.isIntersecting).sort((a, b) => b.time - a.time)
      if (last) arrive(steps.findIndex(({ section }) => section === last.target))
    }, { rootMargin: `-${above}% 0px -${below}% 0px` })
    for (const { section } of steps) observer.observe(section)
  }
  observe()
  PHONE.addEventListener("change", observe)
  return () => {
    observer.disconnect()
    PHONE.removeEventListener("change", observe)
  }
}

export default function ({ data, parentElement: root }) {
  if (root.scroll?.id === data.id) show(root, data)
  else root.scroll = { id: data.id, ...begin(root, data) }
  root.scroll.stop?.()
  root.scroll.stop = watch(root.scroll)
  return root.scroll.stop
}
