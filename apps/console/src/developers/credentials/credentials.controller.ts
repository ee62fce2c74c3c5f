import { randomUUID } from 'node:crypto';
import { Body, Get, HttpStatus, Inject, Param, Post, Query, Res } from '@nestjs/common';
import {
  CreateCredentialV1,
  type CredentialEntry,
  type CredentialKind,
  type CredentialScope,
  ListCredentialsV1,
  OVERLAP_HOURS,
  RevokeCredentialV1,
} from '@svc/contracts';
import { DomainError, isUuid } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../../access/access.guard.js';
import { readField } from '../../layout/forms.js';
import { redirect, sendPage } from '../../layout/page-sender.js';
import { chooseSite } from '../../viewer/sites.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import { developersPath, type Message } from '../developers-frame.js';
import { type Place, renderCredentialsPage, type ShownSecret, WHOLE_MERCHANT } from './credentials-page.js';
import { isLastCredential } from './last-credential.js';

/** A page with what happened before. */
interface PageOptions {
  readonly status?: HttpStatus;
  readonly message?: Message;
  readonly shown?: ShownSecret;
}

/** Longest id or choice of a form: a UUID. */
const MAX_ID_LENGTH = 36;

/**
 * API keys and webhook secrets, which identity owns. A secret is only in the answer to the form that creates it: never in an
 * address, a log or the next page.
 */
@PageController(':merchantId/:mode/developers/keys')
export class CredentialsController {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  @Get()
  @Allow({ right: 'keys.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const place = choosePlace(viewer, query['site']);
    const revoked: Message = { kind: 'done', text: viewer.texts.keys.revoked };
    await this.send(reply, viewer, place, query['done'] === 'revoked' ? { message: revoked } : {});
  }

  /**
   * Creates a credential, also in place of another one. The id of the form is the id of the credential, so a repeat, such as
   * a reload, creates nothing.
   */
  @Post()
  @Allow({ right: 'keys.manage', isConfirmed: true })
  async create(
    @CallingViewer() viewer: MerchantViewer,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const place = requirePlace(viewer, readField(form, 'site', Infinity));
    const key = readField(form, 'key', MAX_ID_LENGTH);
    const replaces = readField(form, 'replaces', MAX_ID_LENGTH);
    const hours = readField(form, 'hours', MAX_ID_LENGTH);
    const kind = readKind(readField(form, 'kind', MAX_ID_LENGTH));
    const overlapHours = OVERLAP_HOURS.find((known) => String(known) === hours);
    const isReplacement = replaces !== undefined;
    if (!kind || !isUuid(key) || (isReplacement && (!isUuid(replaces) || overlapHours === undefined)))
      return this.refuse(reply, viewer, place, viewer.texts.keys.invalid);
    try {
      const { secret } = await this.commands.request(CreateCredentialV1, {
        ...toScope(viewer, place),
        kind,
        credentialId: key,
        ...(isReplacement ? { replaces: { credentialId: replaces, overlapHours: overlapHours! } } : {}),
      });
      await this.send(reply, viewer, place, { shown: { kind, secret } });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const credentials = await this.list(viewer, place);
      const isRepeat = credentials.some(({ credentialId }) => credentialId === key.toLowerCase());
      await this.refuse(reply, viewer, place, isRepeat ? viewer.texts.keys.again : error.message);
    }
  }

  /** Ends a credential now. The last valid one ends only if the form confirms it. */
  @Post(':id/revoke')
  @Allow({ right: 'keys.manage', isConfirmed: true })
  async revoke(
    @CallingViewer() viewer: MerchantViewer,
    @Param('id') id: string,
    @Body() form: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const place = requirePlace(viewer, readField(form, 'site', Infinity));
    const kind = readKind(readField(form, 'kind', MAX_ID_LENGTH));
    if (!kind) return this.refuse(reply, viewer, place, viewer.texts.keys.invalid);
    const isLast = isLastCredential({ kind, credentialId: id }, await this.list(viewer, place));
    if (isLast && readField(form, 'last', 2) !== 'on') return this.refuse(reply, viewer, place, viewer.texts.keys.last);
    await this.commands.request(RevokeCredentialV1, { ...toScope(viewer, place), kind, credentialId: id });
    await redirect(reply, `${developersPath(viewer)}/keys?site=${place}&done=revoked`);
  }

  private refuse(reply: FastifyReply, viewer: MerchantViewer, place: Place, text: string): Promise<void> {
    return this.send(reply, viewer, place, {
      status: HttpStatus.UNPROCESSABLE_ENTITY,
      message: { kind: 'problem', text },
    });
  }

  private async send(
    reply: FastifyReply,
    viewer: MerchantViewer,
    place: Place | undefined,
    { status = HttpStatus.OK, message, shown }: PageOptions,
  ): Promise<void> {
    const credentials = place === undefined ? [] : await this.list(viewer, place);
    const page = { viewer, place, credentials, message, shown, newId: randomUUID };
    await sendPage(reply, status, renderCredentialsPage(page));
  }

  private async list(viewer: MerchantViewer, place: Place): Promise<CredentialEntry[]> {
    return (await this.commands.request(ListCredentialsV1, toScope(viewer, place))).credentials;
  }
}

/** The merchant if it is chosen and the person has the right there, else a site. */
function choosePlace(viewer: MerchantViewer, value: unknown): Place | undefined {
  return value === WHOLE_MERCHANT && viewer.scope.sites === 'all' ? WHOLE_MERCHANT : chooseSite(viewer, value);
}

function requirePlace(viewer: MerchantViewer, value: unknown): Place {
  const place = choosePlace(viewer, value);
  if (place === undefined) throw new DomainError('resource.not-found');
  return place;
}

function toScope({ actor, merchant, mode }: MerchantViewer, place: Place): CredentialScope {
  const { merchantId } = merchant;
  return { actor, merchantId, mode, ...(place === WHOLE_MERCHANT ? {} : { siteId: place }) };
}

function readKind(value: string | undefined): CredentialKind | undefined {
  return value === 'api-key' || value === 'webhook-secret' ? value : undefined;
}

/** Whether the page explains the error. Any other error has a page of its own, or leads to the confirmation. */
function isRefusal(error: unknown): error is DomainError {
  return error instanceof DomainError && (error.code === 'resource.conflict' || error.code === 'request.invalid');
}
