import type { look as english } from '../en/look.js';

/** Texts of the look of the payment page, in Afrikaans. */
export const look: typeof english = {
  look: {
    title: 'Voorkoms van die betaalblad',
    intro: 'So sien betalers jou betaalblad en jou kwitansies, by alle winkels, in toets en regstreeks.',
    readOnly: 'Net eienaars van die hele handelaar kan die voorkoms verander.',
    displayName: 'Naam op die blad (leeg: {name})',
    hasColour: 'Gebruik ons eie kleur vir die knoppie en die skakels',
    colour: 'Kleur',
    logo: 'Logo: PNG, JPEG of WebP, hoogstens 256 KB',
    currentLogo: 'Logo op die blad',
    draftLogo: 'Jou nuwe logo is in die voorskou. Stoor om dit te behou.',
    removeLogo: 'Verwyder die logo',
    supportTitle: 'Vrae van betalers',
    supportEmail: 'E-pos',
    supportPhone: 'Telefoon, byvoorbeeld +27 21 555 0100',
    supportUrl: 'Hulpblad, wat met https:// begin',
    termsUrl: 'Jou bepalings, wat met https:// begin',
    preview: 'Wys voorskou',
    save: 'Stoor',
    saved: 'Gestoor. Betalers sien dit binne ’n paar sekondes.',
    notSaved: 'Dit is ’n voorskou. Niks is nog gestoor nie.',
    previewTitle: 'Voorskou',
    previewFrame: 'Voorskou van die betaalblad',
    colours: {
      title: 'Sodat almal dit kan lees',
      button: { '#ffffff': 'Die teks op die knoppie is wit.', '#000000': 'Die teks op die knoppie is swart.' },
      darkened: 'Jou kleur word op skakels tot {colour} verdonker, sodat dit gelees kan word.',
      lightened: 'Met ’n donker agtergrond word jou kleur op skakels tot {colour} verlig, sodat dit gelees kan word.',
      unchanged: 'Skakels het presies jou kleur.',
    },
    problems: {
      accentColour: 'Kies ’n kleur soos #0a7d4f.',
      displayName: 'Die naam mag hoogstens 100 karakters hê.',
      supportEmail: 'Die e-posadres is nie korrek nie.',
      supportPhone: 'Tik ’n telefoonnommer in, soos +27 21 555 0100.',
      supportUrl: 'Tik die adres van die hulpblad in, wat met https:// begin.',
      termsUrl: 'Tik die adres van jou bepalings in, wat met https:// begin.',
      logo: 'Die logo kan nie gebruik word nie. Kies ’n PNG-, JPEG- of WebP-prent sonder animasie, van hoogstens 256 KB en 4096 pixels per kant.',
      conflict:
        'Iemand anders het intussen die voorkoms verander. Laai hierdie blad weer en herhaal dan jou verandering.',
    },
  },
};
