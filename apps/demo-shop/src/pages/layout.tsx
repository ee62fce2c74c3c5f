import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';

export interface PageSettings {
  readonly title: string;
  /** File name of the page's script in the folder `assets`. */
  readonly script?: string | undefined;
  readonly children: ComponentChildren;
}

/** Renders a complete HTML document with the shop's header and footer. */
export function renderDocument(settings: PageSettings): string {
  return `<!doctype html>${renderToString(<Document {...settings} />)}`;
}

function Document({ title, script, children }: PageSettings) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · Karoo Roastery`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/assets/shop.css" />
        {script === undefined ? null : <script src={`/assets/${script}`} defer />}
      </head>
      <body>
        <header class="masthead">
          <a href="/">Karoo Roastery</a>
          <p>Coffee, roasted slowly in Prince Albert</p>
        </header>
        <main>{children}</main>
        <footer>A demonstration: nothing here is sold, and no money moves.</footer>
      </body>
    </html>
  );
}
