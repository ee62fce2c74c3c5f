import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Inject,
  Param,
  Put,
  Req,
  UseGuards,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { AdminKeyGuard, Author, type ChangeAuthor } from '@svc/auth';
import { MAX_LOGO_BYTES } from '@svc/contracts';
import { DomainError, isNumericId } from '@svc/kernel';
import { BinaryBody, readBinaryBodies } from '@svc/service';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HostedGatewayConfig } from '../config.js';
import { ChangeLook } from './change-look.js';
import { createLogoFile, LOGO_TYPES, type LogoType } from './logo-image.js';
import { buildLogoPath, pickSettings } from './look.js';
import { LookRepository, type StoredLook } from './look.repository.js';
import { SetLookRequest, toSettings } from './look-settings.js';

/** The look of a merchant, as an administrator sees it. */
export interface LookView {
  merchantId: number;
  accentColour?: string;
  displayName?: string;
  supportEmail?: string;
  supportPhone?: string;
  supportUrl?: string;
  termsUrl?: string;
  /** The stored logo: its address, and its size in pixels. */
  logo?: { url: string; width: number; height: number };
  /** Grows by one with each change; 0 before the first change. */
  version: number;
  /** ISO 8601 UTC. */
  setUTCDate?: string;
  /** `admin:` and the fingerprint of the administration key, or `person:` and the id of the person. */
  setBy?: string;
}

/** The look of merchants on the payment page, for administrators. Needs `x-admin-key`. */
@Controller('admin/v1/looks/:merchantId')
@UseGuards(AdminKeyGuard)
export class LooksController {
  constructor(
    @Inject(LookRepository) private readonly looks: LookRepository,
    @Inject(ChangeLook) private readonly changeLook: ChangeLook,
    @Inject(HostedGatewayConfig) private readonly config: HostedGatewayConfig,
    @Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost,
  ) {
    const fastify = httpAdapter.getInstance<FastifyInstance>();
    readBinaryBodies(fastify, Object.keys(LOGO_TYPES), MAX_LOGO_BYTES);
  }

  /**
   * Returns the look of a merchant. A merchant without a setting has the look of the platform.
   *
   * @throws resource.not-found
   */
  @Get()
  async get(@Param('merchantId') merchantId: string): Promise<LookView> {
    const id = parseMerchantId(merchantId);
    return this.toView(id, await this.looks.find(id));
  }

  /**
   * Replaces the settings of a look. The logo stays. Payers see the change after some seconds, on the pages of all sites
   * and both modes.
   *
   * @throws request.invalid
   * @throws resource.not-found
   */
  @Put()
  async set(
    @Author() author: ChangeAuthor,
    @Param('merchantId') merchantId: string,
    @Body() request: SetLookRequest,
  ): Promise<LookView> {
    const id = parseMerchantId(merchantId);
    return this.toView(id, await this.changeLook.setSettings(author, id, toSettings(request)));
  }

  /**
   * Replaces the logo. The body is the file: PNG, JPEG or WebP, at most 256 KiB and 4096 pixels a side. It is stored as
   * PNG of at most 480 x 160 pixels, without metadata.
   *
   * @consumes image/png
   * @consumes image/jpeg
   * @consumes image/webp
   * @throws look.logo-unusable
   * @throws request.too-large
   * @throws request.unsupported-media-type
   * @throws resource.not-found
   */
  @Put('logo')
  async setLogo(
    @Author() author: ChangeAuthor,
    @Param('merchantId') merchantId: string,
    @Req() request: FastifyRequest,
  ): Promise<LookView> {
    const id = parseMerchantId(merchantId);
    const { body } = request;
    if (!(body instanceof BinaryBody))
      throw new DomainError('request.unsupported-media-type', {
        message: 'Send the logo as image/png, image/jpeg or image/webp.',
      });
    const file = await createLogoFile(body.bytes, body.type as LogoType);
    return this.toView(id, await this.changeLook.setLogo(author, id, file));
  }

  /**
   * Deletes the logo and all earlier logos. Receipts that were e-mailed before then show the name instead.
   *
   * @throws resource.not-found
   */
  @Delete('logo')
  @HttpCode(HttpStatus.OK)
  async deleteLogo(@Author() author: ChangeAuthor, @Param('merchantId') merchantId: string): Promise<LookView> {
    const id = parseMerchantId(merchantId);
    return this.toView(id, await this.changeLook.deleteLogo(author, id));
  }

  private toView(merchantId: number, look: StoredLook | undefined): LookView {
    if (look === undefined) return { merchantId, version: 0 };
    const { logo, version, setAt, setBy } = look;
    return {
      merchantId,
      ...pickSettings(look),
      ...(logo === null
        ? {}
        : {
            logo: {
              url: `${this.config.SVC_GATEWAY_URL}${buildLogoPath(logo)}`,
              width: logo.width,
              height: logo.height,
            },
          }),
      version,
      setUTCDate: setAt.toISOString(),
      setBy,
    };
  }
}

function parseMerchantId(text: string): number {
  if (!isNumericId(text)) throw new DomainError('resource.not-found');
  return Number(text);
}
