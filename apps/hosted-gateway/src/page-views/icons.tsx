/**
 * Icons as inline SVG, so that the page loads no other file. They are decorative, and therefore hidden from screen
 * readers.
 */

export function LockIcon() {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <rect x="5" y="10.5" width="14" height="9.5" rx="2.5" fill="currentColor" />
      <path d="M8 10.5V7.5a4 4 0 0 1 8 0v3" fill="none" stroke="currentColor" stroke-width="2" />
    </svg>
  );
}

export function StateIcon({ kind }: { kind: 'good' | 'closed' }) {
  return (
    <svg class={`state-icon ${kind}`} viewBox="0 0 48 48" aria-hidden="true" focusable="false">
      <circle cx="24" cy="24" r="22" fill="currentColor" opacity="0.14" />
      <path
        d={kind === 'good' ? 'M15 24.5l6.5 6.5L33.5 18' : 'M24 14.5v12M24 32.5v.5'}
        fill="none"
        stroke="currentColor"
        stroke-width="3.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
