import {
  applyDecorators,
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { canOperate, hasRight, type Mode, type OperatorRight, type Right, sitesWithRight } from '@svc/contracts';
import { Clock, DomainError, isNumericId } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { ConsoleConfig } from '../config.js';
import { MerchantClock } from '../languages/format.js';
import { selectTexts } from '../languages/languages.js';
import { ErrorPageFilter } from '../layout/error-page.filter.js';
import { OversizedForm } from '../layout/forms.js';
import { MerchantRepository } from '../merchants/merchant.repository.js';
import { hashBrowser, hashToken, PersonSessions } from '../viewer/person-sessions.js';
import { SessionCookie } from '../viewer/session-cookie.js';
import {
  createCsrfToken,
  isCsrfToken,
  type MerchantViewer,
  type OperatorViewer,
  requireConfirmation,
  type Viewer,
} from '../viewer/viewer.js';

/**
 * The callers of a page. `public`: everybody. `person`: a person who is signed in. `set-up`: also a person without a second
 * factor. Otherwise a person with the right at the merchant of the path, or an operator of the platform; for a sensitive action
 * one who has signed in or confirmed within the last ten minutes.
 */
export type Access = 'public' | 'person' | 'set-up' | MerchantAccess | OperatorAccess;

export interface MerchantAccess {
  readonly right: Right;
  readonly isConfirmed?: true;
}

export interface OperatorAccess {
  readonly operator: OperatorRight;
  readonly isConfirmed?: true;
}

export const ACCESS = 'access';

/** Declares who may call a handler. A handler without it is refused. */
export const Allow = (access: Access): MethodDecorator => SetMetadata(ACCESS, access);

type ViewedRequest = FastifyRequest & { viewer?: Viewer };

/** The person who is signed in. */
export const CallingPerson = createParamDecorator((_: unknown, context: ExecutionContext): Viewer => {
  const { viewer } = context.switchToHttp().getRequest<ViewedRequest>();
  if (!viewer) throw new DomainError('authentication.required');
  return viewer;
});

/** The person, with the merchant and the mode of the path. */
export const CallingViewer = createParamDecorator((_: unknown, context: ExecutionContext): MerchantViewer => {
  const { viewer } = context.switchToHttp().getRequest<ViewedRequest>();
  if (!viewer || !('merchant' in viewer)) throw new DomainError('authentication.required');
  return viewer as MerchantViewer;
});

/** The operator of the platform. */
export const CallingOperator = createParamDecorator((_: unknown, context: ExecutionContext): OperatorViewer => {
  const { viewer } = context.switchToHttp().getRequest<ViewedRequest>();
  if (!viewer || !('operatorRole' in viewer)) throw new DomainError('authentication.required');
  return viewer as OperatorViewer;
});

/**
 * Protects every page. The path names the merchant and the mode, so that the data of a request belong to exactly one
 * merchant in one mode. A merchant at which the person has no role does not exist for the person, nor do the pages of
 * operators for a person who is none.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly origin: string;

  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
    @Inject(PersonSessions) private readonly sessions: PersonSessions,
    @Inject(MerchantRepository) private readonly merchants: MerchantRepository,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(ConsoleConfig) config: ConsoleConfig,
  ) {
    this.origin = new URL(config.SVC_CONSOLE_URL).origin;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = this.reflector.get<Access | undefined>(ACCESS, context.getHandler());
    if (access === undefined) throw new DomainError('credentials.forbidden');
    const request = context.switchToHttp().getRequest<ViewedRequest>();
    const changes = request.method !== 'GET' && request.method !== 'HEAD';
    if (changes) this.requireSameOrigin(request);
    if (access === 'public') return true;
    const viewer = await this.findViewer(request);
    request.viewer = viewer;
    if (request.body instanceof OversizedForm)
      throw new DomainError('request.too-large', { message: viewer.texts.errors.tooLarge });
    if (changes && !isCsrfToken(viewer, (request.body as { csrf?: unknown } | undefined)?.csrf))
      throw new DomainError('credentials.forbidden', { message: viewer.texts.errors.stale });
    if (access === 'set-up') return true;
    if (viewer.session.setUpRequired) throw new DomainError('authentication.required');
    if (access === 'person') return true;
    request.viewer =
      'operator' in access
        ? toOperatorViewer(viewer, access.operator)
        : await this.findMerchantViewer(request, viewer, access.right);
    if (access.isConfirmed) requireConfirmation(viewer, this.clock.now());
    return true;
  }

  private requireSameOrigin({ headers }: FastifyRequest): void {
    const site = headers['sec-fetch-site'];
    if (site === undefined ? headers.origin === this.origin : site === 'same-origin') return;
    throw new DomainError('credentials.forbidden');
  }

  private async findViewer(request: FastifyRequest): Promise<Viewer> {
    const token = this.cookie.read(request);
    if (token === undefined) throw new DomainError('authentication.required');
    const actor = { sessionHash: hashToken(token), browser: hashBrowser(request), requestId: request.id };
    const session = await this.sessions.find(actor, { isActivity: !isRenewal(request) });
    if (!session) throw new DomainError('authentication.required');
    return { session, actor, csrfToken: createCsrfToken(token), texts: selectTexts(request) };
  }

  private async findMerchantViewer(request: FastifyRequest, viewer: Viewer, right: Right): Promise<MerchantViewer> {
    const { merchantId: merchantText, mode } = request.params as { merchantId?: string; mode?: string };
    const merchantId = isNumericId(merchantText) ? Number(merchantText) : undefined;
    const { roles } = viewer.session;
    const isOwn = roles.some((grant) => grant.merchantId === merchantId);
    const [merchant] = isOwn && isMode(mode) ? await this.merchants.list([merchantId!]) : [];
    if (!merchant || !isMode(mode))
      throw new DomainError('resource.not-found', { message: viewer.texts.errors.notFound });
    const sites = sitesWithRight(roles, right, merchant.merchantId);
    const seen: MerchantViewer = {
      ...viewer,
      merchant,
      mode,
      clock: new MerchantClock(merchant.timeZones),
      scope: { merchantId: merchant.merchantId, mode, sites },
      can: (other, siteId) => hasRight(roles, other, { merchantId: merchant.merchantId, siteId }),
    };
    if (sites !== 'all' && sites.length === 0) throw new DomainError('credentials.forbidden');
    return seen;
  }
}

/** Throws `resource.not-found` for a person who is no operator, and `credentials.forbidden` without the right. */
function toOperatorViewer(viewer: Viewer, right: OperatorRight): OperatorViewer {
  const { operatorRole } = viewer.session;
  if (operatorRole === undefined)
    throw new DomainError('resource.not-found', { message: viewer.texts.errors.notFound });
  if (!canOperate(operatorRole, right)) throw new DomainError('credentials.forbidden');
  return { ...viewer, operatorRole };
}

/** A page opens its stream of changes by itself, again and again, so the stream does not show that a person is there. */
function isRenewal({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/event-stream') === true;
}

function isMode(mode: string | undefined): mode is Mode {
  return mode === 'test' || mode === 'live';
}

/** A controller whose handlers are pages. Each handler says with {@link Allow} who may call it. */
export const PageController = (path = ''): ClassDecorator =>
  applyDecorators(Controller(path), UseGuards(AccessGuard), UseFilters(ErrorPageFilter));
