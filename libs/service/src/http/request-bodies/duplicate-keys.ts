const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPENING_BRACKET = 91;
const BACKSLASH = 92;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/** An object or a list that is open at the current position. */
interface Container {
  /** The keys that an object has so far. Undefined for a list. */
  readonly keys: Set<string> | undefined;
  /** The latest key of an object. */
  key: string;
  /** Index of the current element of a list. */
  index: number;
}

/**
 * Returns the path of the first key that an object of a JSON text has twice, or undefined. JSON.parse takes the last
 * value, and other programs take the first, so that two programs could read two amounts in one request.
 *
 * @param text valid JSON: the caller has parsed it
 */
export function findDuplicateKey(text: string): string | undefined {
  const open: Container[] = [];
  let current: Container | undefined;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        const end = findEndOfString(text, i);
        if (current?.keys && isFollowedByColon(text, end)) {
          current.key = readString(text, i, end);
          if (current.keys.has(current.key)) return formatPath(open);
          current.keys.add(current.key);
        }
        i = end;
        break;
      }
      case OPENING_BRACE:
        open.push((current = { keys: new Set(), key: '', index: 0 }));
        break;
      case OPENING_BRACKET:
        open.push((current = { keys: undefined, key: '', index: 0 }));
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        open.pop();
        current = open.at(-1);
        break;
      case COMMA:
        if (current) current.index++;
        break;
    }
  }
  return undefined;
}

/** The position of the quotation mark that ends the string which begins at `start`. */
function findEndOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

/** Whether an odd number of backslashes is before this position. */
function isEscaped(text: string, position: number): boolean {
  let first = position;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (position - first) % 2 === 1;
}

function isFollowedByColon(text: string, position: number): boolean {
  let next = position + 1;
  while (text.charCodeAt(next) <= 32) next++;
  return text.charCodeAt(next) === COLON;
}

function readString(text: string, start: number, end: number): string {
  const content = text.slice(start + 1, end);
  return content.includes('\\') ? (JSON.parse(`"${content}"`) as string) : content;
}

/** The path in the format of other errors, for example `vouchers[0].amount`. An empty key is written as `""`. */
function formatPath(open: readonly Container[]): string {
  return open
    .map(({ keys, key, index }) => (keys ? `.${key || '""'}` : `[${index}]`))
    .join('')
    .replace(/^\./, '');
}
