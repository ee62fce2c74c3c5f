import { type LookColours, type LookFields, type LookPreview, MAX_EMAIL_LENGTH } from '@svc/contracts';
import type { Texts } from '../languages/en/en.js';
import { fill } from '../languages/fill.js';
import { PostForm } from '../layout/form-elements.js';
import { Notice, pathOf, renderDocument } from '../layout/layout.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import type { LookForm } from './look-form.js';

export type LookProblem = keyof LookFields | 'logo' | 'conflict';
export type LookMessage =
  { readonly kind: 'saved' | 'draft' } | { readonly kind: 'problem'; readonly problem: LookProblem };

export interface LookPage {
  readonly viewer: MerchantViewer;
  readonly canManage: boolean;
  readonly preview: LookPreview;
  /** The typed look. Absent if the page shows the stored one. */
  readonly form?: LookForm;
  readonly message: LookMessage | undefined;
}

/** The colour of the platform, which the field shows while the merchant has no colour. */
const PLATFORM_COLOUR = '#1b4fc4';

export function renderLookPage(page: LookPage): string {
  const { viewer, message, canManage, preview } = page;
  const { texts } = viewer;
  const { look } = texts;
  return renderDocument({
    title: look.title,
    texts,
    viewer,
    current: 'look',
    children: (
      <>
        <h1>{look.title}</h1>
        <p class="small">{look.intro}</p>
        {message === undefined || message.kind === 'draft' ? null : <Message {...{ texts, message }} />}
        <div class="columns look">
          <section class="card">
            {canManage ? null : <p class="empty">{look.readOnly}</p>}
            <Form {...page} />
          </section>
          <section class="card" id="preview">
            <h2>{look.previewTitle}</h2>
            {message?.kind === 'draft' ? <Message {...{ texts, message }} /> : null}
            <Colours {...{ texts, preview }} />
            {/* A sandbox without any permission: no script, no form, no links out of the frame. */}
            <iframe class="preview" title={look.previewFrame} sandbox="" srcdoc={preview.page.html} />
          </section>
        </div>
      </>
    ),
  });
}

function Message({ texts, message }: { texts: Texts; message: LookMessage }) {
  const { look } = texts;
  switch (message.kind) {
    case 'saved':
      return <Notice kind="done">{look.saved}</Notice>;
    case 'draft':
      return <Notice kind="done">{look.notSaved}</Notice>;
    case 'problem':
      return <Notice kind="problem">{look.problems[message.problem]}</Notice>;
  }
}

function Form(page: LookPage) {
  const { viewer, canManage, preview, form } = page;
  const { look } = viewer.texts;
  const path = `${pathOf(viewer)}/look`;
  return (
    <PostForm viewer={viewer} action={path} enctype="multipart/form-data">
      <input type="hidden" name="version" value={form?.version ?? preview.version} />
      <fieldset class="plain" disabled={!canManage}>
        <BrandFields {...page} />
        <LogoFields {...page} />
        <h2>{look.supportTitle}</h2>
        <TextField
          {...{ page, name: 'supportEmail', label: look.supportEmail, type: 'email', maxLength: MAX_EMAIL_LENGTH }}
        />
        <TextField {...{ page, name: 'supportPhone', label: look.supportPhone, type: 'tel', maxLength: 31 }} />
        <TextField {...{ page, name: 'supportUrl', label: look.supportUrl, type: 'url', maxLength: 500 }} />
        <TextField {...{ page, name: 'termsUrl', label: look.termsUrl, type: 'url', maxLength: 500 }} />
      </fieldset>
      {canManage ? (
        <p class="buttons">
          {/* On a phone the preview is below the form. */}
          <button class="second" formaction={`${path}/preview#preview`}>
            {look.preview}
          </button>
          <button>{look.save}</button>
        </p>
      ) : null}
    </PostForm>
  );
}

function BrandFields(page: LookPage) {
  const { look } = page.viewer.texts;
  const { accentColour } = readSettings(page);
  const label = fill(look.displayName, { name: page.viewer.merchant.name });
  return (
    <>
      <TextField {...{ page, name: 'displayName', label, type: 'text', maxLength: 100 }} />
      <label class="check">
        <input type="checkbox" name="hasColour" value="1" checked={accentColour !== undefined} />
        {look.hasColour}
      </label>
      <label>
        {look.colour}
        <input
          type="color"
          name="accentColour"
          value={accentColour ?? PLATFORM_COLOUR}
          aria-invalid={isWrong(page, 'accentColour')}
        />
      </label>
    </>
  );
}

function LogoFields(page: LookPage) {
  const { viewer, preview, form } = page;
  const { look } = viewer.texts;
  const draftLogo = findDraftLogo(page);
  const removesLogo = form?.draft.removesLogo ?? false;
  return (
    <>
      {preview.logo === undefined ? null : (
        <p class="logo">
          <img src={`data:image/png;base64,${preview.logo}`} alt={look.currentLogo} />
        </p>
      )}
      {draftLogo === undefined ? null : (
        <>
          <input type="hidden" name="draftLogo" value={draftLogo} />
          <p class="small">{look.draftLogo}</p>
        </>
      )}
      <label>
        {look.logo}
        <input type="file" name="logo" accept="image/png,image/jpeg,image/webp" aria-invalid={isWrong(page, 'logo')} />
      </label>
      {preview.logo === undefined && !removesLogo ? null : (
        <label class="check">
          <input type="checkbox" name="removeLogo" value="1" checked={removesLogo} />
          {look.removeLogo}
        </label>
      )}
    </>
  );
}

interface TextFieldOf {
  readonly page: LookPage;
  readonly name: Exclude<keyof LookFields, 'accentColour'>;
  readonly label: string;
  readonly type: 'text' | 'email' | 'tel' | 'url';
  readonly maxLength: number;
}

function TextField({ page, name, label, type, maxLength }: TextFieldOf) {
  const attributes: Readonly<Record<string, string | number>> = { type, maxlength: maxLength };
  return (
    <label>
      {label}
      <input
        name={name}
        value={readSettings(page)[name]}
        autocomplete="off"
        aria-invalid={isWrong(page, name)}
        {...attributes}
      />
    </label>
  );
}

/** The typed settings, else the stored ones. */
function readSettings({ form, preview }: LookPage): LookFields {
  return form?.draft.settings ?? preview.settings;
}

function isWrong({ message }: LookPage, name: LookProblem): 'true' | undefined {
  return message?.kind === 'problem' && message.problem === name ? 'true' : undefined;
}

/**
 * The logo that is in the preview and not stored. The form contains it, because a browser does not keep the file of a form.
 * After a problem with another field it is the one of the last preview.
 */
function findDraftLogo({ form, message, preview }: LookPage): string | undefined {
  if (form?.draft.logo === undefined) return undefined;
  if (message?.kind === 'draft') return preview.logo;
  if (message?.kind !== 'problem' || message.problem === 'logo') return undefined;
  return form.isLogoOfPreview ? form.draft.logo.base64 : undefined;
}

/** Explains how the page changes the colour of the merchant. */
function Colours({ texts, preview: { colours, settings } }: { texts: Texts; preview: LookPreview }) {
  const words = texts.look.colours;
  if (colours === undefined || settings.accentColour === undefined) return null;
  return (
    <>
      <h3>{words.title}</h3>
      <ul class="small">
        {describeColours(words, colours, settings.accentColour).map((sentence) => (
          <li>{sentence}</li>
        ))}
      </ul>
    </>
  );
}

export function describeColours(
  words: Texts['look']['colours'],
  { buttonText, linksOnLight, linksOnDark }: LookColours,
  accentColour: string,
): string[] {
  const links = [
    ...(linksOnLight === accentColour ? [] : [fill(words.darkened, { colour: linksOnLight })]),
    ...(linksOnDark === accentColour ? [] : [fill(words.lightened, { colour: linksOnDark })]),
  ];
  const button = buttonText === '#ffffff' ? words.button['#ffffff'] : words.button['#000000'];
  return [button, ...(links.length === 0 ? [words.unchanged] : links)];
}
