/**
 * The session's QR code: beside the form on a wide screen, folded below it on a phone. The server renders the image, so
 * it needs no script and no other request. Its background is white in every theme, because cameras look for dark
 * on light.
 */
import { qrSvg } from '@svc/kernel';
import { useMessages } from './page-frame.js';

export function PayByCode({ code }: { code: string }) {
  const { byCode } = useMessages();
  return (
    <section class="method by-code" id="code-view" aria-labelledby="code-heading">
      {/* The image stands outside, so that the style sheet alone can show it unfolded; no script is needed for either. */}
      <details>
        <summary>{byCode.fold}</summary>
      </details>
      <div class="folded">
        <h2 id="code-heading">{byCode.heading}</h2>
        {/* Nothing of a merchant's is in it: an address of ours, drawn as rectangles. */}
        <div class="qr" dangerouslySetInnerHTML={{ __html: qrSvg(code, byCode.alternative) }} />
        <p>{byCode.note}</p>
        <p class="hint">{byCode.goesOn}</p>
      </div>
    </section>
  );
}
