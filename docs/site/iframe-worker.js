// The search runs in a worker, and browsers start none for a page that is opened from the disk.
// There a hidden frame takes its place: it runs the same script and exchanges the same messages.
// The theme looks for this name.
(() => {
  if (location.protocol !== "file:") return;
  const importScripts = `importScripts = (...urls) => urls.reduce((done, url) => done.then(() =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      Object.assign(script, { src: url, onload: resolve, onerror: reject });
      document.head.append(script);
    })), Promise.resolve());`;
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise(resolve => { this.frame.onload = resolve; });
      this.frame.srcdoc = `<script>${importScripts}</script><script src="${url}"></script>`;
      document.body.append(this.frame);
      this.ready.then(() => {
        this.frame.contentWindow.postMessage = data => this.receive(data);
      });
    }
    receive(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    postMessage(data) {
      this.ready.then(() =>
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
})();
