"use strict";
(function () {
  var op = document.getElementById("op"), bad = document.getElementById("bad"), shown = document.getElementById("shown");
  function show() {
    var count = 0;
    document.querySelectorAll("section[data-op]").forEach(function (section) {
      var some = false;
      section.querySelectorAll("tbody.case").forEach(function (body) {
        var hide = (op.value && section.dataset.op !== op.value) || (bad.checked && !body.querySelector("td.fail"));
        body.hidden = hide;
        if (!hide) { some = true; count++; }
      });
      section.hidden = !some;
    });
    shown.textContent = count + " rows shown";
  }
  op.addEventListener("change", show);
  bad.addEventListener("change", show);
  document.querySelectorAll("svg a").forEach(function (a) {
    a.addEventListener("click", function () { op.value = ""; bad.checked = false; show(); });
  });
  show();
})();
