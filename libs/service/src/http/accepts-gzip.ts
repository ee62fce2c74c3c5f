/** Whether an `Accept-Encoding` names gzip, and does not refuse it. */
export function acceptsGzip(accepted = ''): boolean {
  return accepted.split(',').some((each) => /^\s*(x-)?gzip\s*(;\s*q=(1|0\.\d*[1-9])\S*\s*)?$/i.test(each));
}
