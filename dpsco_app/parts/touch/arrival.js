// Until its code has come, a control is a grey place with nothing to press or to fill in. Not for
// ever: a page that never gets rid of its grey places runs all the same.
// Who has clicked on a link is on the way to another page, however slow the server: asked for now,
// this one would come back, without the other one's address.
import { leaving } from "./leaving.js"

const CONTROLS = "[class*='st-key-field_'], .st-key-presets, .st-key-explore_run"
const USED = "button, input, summary"

export default function ({ setTriggerValue }) {
  leaving()
  const here = location.pathname
  const gone = () => location.pathname !== here || window.dpscoLeft === here
  const until = performance.now() + 15000
  const grey = () => [...document.querySelectorAll(CONTROLS)].some((e) => !e.querySelector(USED))
  const look = () => {
    if (gone() || (grey() && performance.now() < until)) waiting = setTimeout(look, 50)
    else setTriggerValue("there", true)
  }
  let waiting = setTimeout(look, 50)
  return () => clearTimeout(waiting)
}
