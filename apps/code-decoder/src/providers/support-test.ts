/**
 * The support test of the specification ("Decode"; D2): whether a code is of a kind that can be paid here. It decides
 * between "not found" and "unsupported" and which provider is asked; it never decides what a code means.
 *
 * Anybody may send any text of 2 KiB, so every alternative takes time in proportion to its length: none has two ways
 * to match the same characters.
 */
export interface CodeFragments {
  /** Parts of addresses under which codes are found, e.g. `pay.svc.example/c/`. Taken literally. */
  readonly hosts: readonly string[];
  /** Parts of short links; digits stand right before them. */
  readonly shortLinks: readonly string[];
}

export type Alternative = 'host' | 'two-four-twenty' | 'sk' | 'twenty-digits' | 'crstpc' | 'short-link';

const SHAPES: readonly (readonly [Alternative, RegExp])[] = [
  ['two-four-twenty', /^.{2}\/.{4}\/.{20}$/],
  ['sk', /^SK-\d+-\d{23}$/],
  ['twenty-digits', /^\d{20}$/],
  ['crstpc', /^CRSTPC(?:-\d+){5}$/],
];

/** The first alternative that the trimmed code matches as a whole, in the order of the specification. */
export function matchedAlternative(code: string, fragments: CodeFragments): Alternative | undefined {
  const text = code.trim();
  const matchesFragment = fragmentAlternative(text, fragments);
  if (matchesFragment === 'host') return 'host';
  return SHAPES.find(([, shape]) => shape.test(text))?.[0] ?? matchesFragment;
}

/** Whether the trimmed code names an address or short link of these: then it belongs to whom they belong to. */
export function fragmentAlternative(
  text: string,
  { hosts, shortLinks }: CodeFragments,
): 'host' | 'short-link' | undefined {
  // `^.*(?:fragment).*$` matches one line and nothing else.
  if (/[\n\r\u2028\u2029]/.test(text)) return undefined;
  if (hosts.some((fragment) => text.includes(fragment))) return 'host';
  return shortLinks.some((fragment) => followsDigit(text, fragment)) ? 'short-link' : undefined;
}

/** `^.*\d+(?:fragment).*$`, without the two ways of matching a run of digits that the pattern has. */
function followsDigit(text: string, fragment: string): boolean {
  for (let at = text.indexOf(fragment, 1); at > 0; at = text.indexOf(fragment, at + 1)) {
    const before = text.charCodeAt(at - 1);
    if (before >= 0x30 && before <= 0x39) return true;
  }
  return false;
}
