/**
 * Make an element with its properties, what its `dataset` holds, and what is in it.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Partial<Omit<HTMLElementTagNameMap[K], "dataset">> & {dataset?: Record<string, any>}} [properties]
 * @param {(Node | string)[]} children
 */
export function make(name, { dataset = {}, ...properties } = {}, ...children) {
  const node = document.createElement(name);
  Object.assign(node, properties);
  Object.assign(node.dataset, dataset);
  node.append(...children);
  return node;
}
