// The index page: indexing, with the events that the server sends.
"use strict";

async function indexNow(button) {
  const action = button.closest(".index-action");
  const bar = $("progress", action);
  const text = $(".progress-text", action);
  button.disabled = true;
  bar.hidden = false;
  bar.removeAttribute("value");
  try {
    const response = await fetch("/api/v1/index", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ repository: button.dataset.repo }),
    });
    if (!response.ok) throw new Error((await response.json()).detail);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (rest + part.value).split("\n\n");
      rest = events.pop();
      for (const event of events) {
        const [kind, data] = event.split("\ndata: ");
        const values = JSON.parse(data);
        if (kind === "event: problem") throw new Error(values.detail);
        if (kind === "event: done") location.reload();
        if (values.total) bar.value = (100 * values.done) / values.total;
        if (values.message) text.textContent = values.message.replace(/ *\[[#-]*\] */, " ");
      }
    }
  } catch (error) {
    text.textContent = error.message;
    bar.hidden = true;
    button.disabled = false;
  }
}


document.addEventListener("click", (event) => {
  const button = event.target.closest(".index-now");
  if (button) indexNow(button);
});
