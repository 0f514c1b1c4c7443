// The names of participants: our own, which the browser remembers, and those of others.

export const maximumName = 64;
const key = 'name';

/** A name on one line without control, format and bidirectional characters, at most 64 characters long; '' for none. */
export function cleanOwnName(text) {
  const clean = [...String(text ?? '').slice(0, 1024).replace(/[\p{White_Space}]+/gu, ' ')
    .replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, '').trim()].slice(0, maximumName).join('').trim();
  return /^[\p{M}\s]*$/u.test(clean) ? '' : clean;
}

/** The name of an earlier visit; '' for none. */
export function rememberedName() {
  // Storage may be forbidden.
  try { return cleanOwnName(localStorage.getItem(key)); } catch { return ''; }
}

export function rememberName(name) {
  try {
    if (name) localStorage.setItem(key, name);
    else localStorage.removeItem(key);
  } catch { /* Then the name is asked for again. */ }
}

/** What the participants of a room say of themselves: `{ name, records }` by id. */
export class Profiles {
  #profiles = new Map();

  /** Takes what a participant says; returns whether that is new. */
  set(id, { name, records } = {}) {
    const before = this.get(id);
    const profile = { name: typeof name === 'string' ? cleanOwnName(name) : '', records: records === true };
    if (profile.name || profile.records) this.#profiles.set(id, profile);
    else this.#profiles.delete(id);
    return profile.name !== before.name || profile.records !== before.records;
  }

  get(id) { return this.#profiles.get(id) ?? { name: '', records: false }; }

  remove(id) { this.#profiles.delete(id); }

  clear() { this.#profiles.clear(); }

  /** A participant for people: the name with the beginning of the id, which tells namesakes apart, or that alone. */
  label(id) { return label(this.get(id).name, id); }
}

export function label(name, id) { return name ? `${name} · ${id.slice(0, 6)}` : id.slice(0, 6); }
