/**
 * The session's QR code: beside the form on a wide screen, folded below the form on a phone. The server renders the
 * image, so it needs no script and no other request. Its background is white in every theme, because cameras expect
 * dark modules on a light background.
 */
import { qrSvg } from '@svc/kernel';
import { useMessages } from './page-frame.js';

export function PayByCode({ code }: { code: string }) {
  const { byCode } = useMessages();
  return (
    <section class="method by-code" id="code-view" aria-labelledby="code-heading">
      {/* The image is outside of <details>, so that the style sheet can always show it on a wide screen, without a script. */}
      <details>
        <summary>{byCode.summary}</summary>
      </details>
      <div class="folded">
        <h2 id="code-heading">{byCode.heading}</h2>
        {/* Safe as raw HTML: it contains no input of a merchant, only rectangles that encode a URL of the gateway. */}
        <div class="qr" dangerouslySetInnerHTML={{ __html: qrSvg(code, byCode.imageDescription) }} />
        <p>{byCode.note}</p>
        <p class="hint">{byCode.continuesAutomatically}</p>
      </div>
    </section>
  );
}
