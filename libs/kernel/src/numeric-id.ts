/**
 * Whether the text from a path, header or query can be the id of a merchant or site. Such an id has 1 to 15 digits,
 * because JavaScript represents such numbers exactly. It has no leading zero, so that each id has only one text.
 */
export function isNumericId(text: unknown): text is string {
  return typeof text === 'string' && /^[1-9]\d{0,14}$/.test(text);
}
