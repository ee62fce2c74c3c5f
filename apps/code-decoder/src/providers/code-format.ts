/**
 * The code formats of the specification ("Decode", support test; D2). The format decides between "not found" and "unsupported", and
 * which provider is queried. It never decides the meaning of a code.
 *
 * A code is untrusted text of up to 2 KiB, so matching must take linear time: no pattern has two ways
 * to match the same characters.
 */
export interface CodeFragments {
  /** Fragments of addresses of codes, such as `pay.svc.example/c/`. Not patterns. */
  readonly hosts: readonly string[];
  /** Fragments of short links; in a code, a digit precedes the fragment. */
  readonly shortLinks: readonly string[];
}

export type CodeFormat = 'host' | 'two-four-twenty' | 'sk' | 'twenty-digits' | 'crstpc' | 'short-link';

const FORMATS: readonly (readonly [CodeFormat, RegExp])[] = [
  ['two-four-twenty', /^.{2}\/.{4}\/.{20}$/],
  ['sk', /^SK-\d+-\d{23}$/],
  ['twenty-digits', /^\d{20}$/],
  ['crstpc', /^CRSTPC(?:-\d+){5}$/],
];

/** The first format that matches the whole trimmed code, in the order of the specification. */
export function matchCodeFormat(code: string, fragments: CodeFragments): CodeFormat | undefined {
  const text = code.trim();
  const matchesFragment = matchFragment(text, fragments);
  if (matchesFragment === 'host') return 'host';
  return FORMATS.find(([, shape]) => shape.test(text))?.[0] ?? matchesFragment;
}

/** Whether the trimmed code contains one of these fragments: then it belongs to their owner. */
export function matchFragment(text: string, { hosts, shortLinks }: CodeFragments): 'host' | 'short-link' | undefined {
  // The specification's pattern `^.*(?:fragment).*$` matches only a single line.
  if (/[\n\r\u2028\u2029]/.test(text)) return undefined;
  if (hosts.some((fragment) => text.includes(fragment))) return 'host';
  return shortLinks.some((fragment) => followsDigit(text, fragment)) ? 'short-link' : undefined;
}

/** Equivalent to `^.*\d+(?:fragment).*$`, but in linear time: that pattern can match a run of digits in several ways. */
function followsDigit(text: string, fragment: string): boolean {
  for (let at = text.indexOf(fragment, 1); at > 0; at = text.indexOf(fragment, at + 1)) {
    const before = text.charCodeAt(at - 1);
    if (before >= 0x30 && before <= 0x39) return true;
  }
  return false;
}
