"use strict";
for (const line of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(line.querySelector("code").textContent).then(
      () => { button.textContent = "Copied"; },
      () => { getSelection().selectAllChildren(line.querySelector("code")); },
    );
  });
  line.append(button);
}
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
if (location.hash) reveal();
