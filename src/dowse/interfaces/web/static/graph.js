// The drawing of the graph: it begins at the centre, and can be dragged.
"use strict";

const drawing = $(".drawing");
if (drawing) {
  const centre = $(".node.centre", drawing)?.getBoundingClientRect();
  const frame = drawing.getBoundingClientRect();
  if (centre) drawing.scrollTo(centre.x - frame.x - frame.width / 2 + centre.width / 2, centre.y - frame.y - frame.height / 2);
  let start = null;
  drawing.addEventListener("pointerdown", (event) => {
    if (!event.target.closest("a")) start = [event.clientX + drawing.scrollLeft, event.clientY + drawing.scrollTop];
  });
  addEventListener("pointermove", (event) => {
    if (!start) return;
    drawing.classList.add("dragged");
    drawing.scrollTo(start[0] - event.clientX, start[1] - event.clientY);
  });
  addEventListener("pointerup", () => {
    start = null;
    drawing.classList.remove("dragged");
  });
}

