"use strict";
// Renders /openapi.json. Text only ever becomes text nodes.

function el(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs || {})) e.setAttribute(k, v);
  for (const c of children) if (c != null) e.append(c);
  return e;
}

function nameOf(schema) {
  return schema.$ref ? schema.$ref.split("/").pop() : null;
}

function typeOf(schema) {
  if (!schema) return "any JSON";
  const name = nameOf(schema);
  if (name) return el("a", { href: "#" + name }, name);
  if (schema.type === "array") return el("span", {}, "list of ", typeOf(schema.items));
  if (schema.enum) return schema.enum.join(" | ");
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type;
  return (type || "any JSON") + (schema.format === "date-time" ? " (time)" : "");
}

function fields(rows) {
  const table = el("table", {});
  for (const [name, schema, required, about] of rows) {
    table.append(el("tr", {},
      el("td", {}, el("code", required ? { class: "need" } : {}, name), required ? " *" : ""),
      el("td", {}, typeOf(schema)),
      el("td", {}, about || (schema && schema.description) || "")));
  }
  return table;
}

function fieldsOf(schema) {
  const required = new Set(schema.required || []);
  return fields(Object.entries(schema.properties || {}).map(([n, s]) => [n, s, required.has(n)]));
}

function operation(method, path, op) {
  const box = el("details", { id: op.operationId },
    el("summary", {}, el("b", {}, method.toUpperCase()), el("code", {}, path), el("span", {}, op.summary)));
  if (op.description) box.append(el("p", {}, op.description));
  const params = (op.parameters || []).map((p) => [p.name, p.schema, p.required, p.description]);
  if (params.length) box.append(el("h4", {}, "Parameters"), fields(params));
  const body = op.requestBody;
  if (body) {
    const schema = body.content["application/json"].schema;
    box.append(el("h4", {}, body.required ? "Body" : "Body (may be left out)"), el("p", {}, typeOf(schema)));
  }
  box.append(el("h4", {}, "Answers"));
  for (const [status, res] of Object.entries(op.responses)) {
    const line = el("p", {}, el("b", {}, status), " " + res.description);
    for (const [media, content] of Object.entries(res.content || {})) {
      line.append(" · " + media + " ", typeOf(content.schema));
    }
    box.append(line);
  }
  return box;
}

function render(api) {
  const main = document.getElementById("api");
  const groups = new Map(api.tags.map((t) => [t.name, []]));
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, op] of Object.entries(item)) groups.get(op.tags[0]).push(operation(method, path, op));
  }
  for (const p of api.info.description.split("\n\n")) main.append(el("p", {}, p));
  main.append(el("nav", {}, ...[...groups.keys(), "Schemas"].map((t) => el("a", { href: "#" + t }, t))));
  for (const [tag, ops] of groups) main.append(el("h2", { id: tag }, tag), ...ops);
  main.append(el("h2", { id: "Schemas" }, "Schemas"), el("p", {}, "* is required."));
  for (const [name, schema] of Object.entries(api.components.schemas)) {
    main.append(el("h3", { id: name }, name), fieldsOf(schema));
  }
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

fetch("/openapi.json").then((r) => r.json()).then(render, (e) => {
  document.getElementById("api").append(el("p", {}, "openapi.json could not be read: " + e));
});
