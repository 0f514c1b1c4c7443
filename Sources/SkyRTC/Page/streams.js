// The streams that one participant sends: which tracks are shown and heard together, and under which number.
//
// Number 1 is the camera with the microphone; a screen never has it. Tracks of one MediaStream belong together. Tracks of
// two MediaStreams, one without video and one without audio, belong together if the participant sends nothing else but
// screens. A number is kept when its MediaStream pauses and returns; a new MediaStream takes the lowest free one.

/** The maximum number of streams that are shown of a participant; a bot negotiates no more either. */
export const maximumStreams = 16;
const kinds = ['audio', 'video'];

export class ReceivedStreams {
  /**
   * What arrives now, by number: `{ number, id, isScreen, stream, receivers }`. `id` is the one of the MediaStream that
   * the participant sends, '' without one; `stream` has at most one track of each kind.
   */
  list = [];

  /** The number of each stream by its key, also of those that do not arrive now. */
  #numbers = new Map();

  /** Takes the receivers whose tracks arrive now, in the order of their sections: `{ receiver, id, isScreen }`. */
  update(tracks) {
    const groups = merged(grouped(tracks)).slice(0, maximumStreams);
    const current = new Set(groups.map(({ key }) => key));
    const used = new Set();
    for (const group of groups) {
      group.number = this.#numbers.get(group.key);
      used.add(group.number);
    }
    for (const group of groups) {
      if (group.number !== undefined) continue;
      group.number = group.isScreen ? 2 : 1;
      while (used.has(group.number)) group.number += 1;
      used.add(group.number);
      for (const [key, number] of this.#numbers) if (number === group.number) this.#numbers.delete(key);
      this.#numbers.set(group.key, group.number);
    }
    groups.sort((one, other) => one.number - other.number);
    this.list = groups.map(({ number, id, isScreen, audio, video }) => {
      const stream = this.list.find((old) => old.number === number)?.stream ?? new MediaStream();
      const receivers = [audio, video].filter(Boolean);
      setTracks(stream, receivers.map((receiver) => receiver.track));
      return { number, id, isScreen, stream, receivers };
    });
  }

  clear() {
    this.list = [];
    this.#numbers.clear();
  }
}

/** Groups tracks by their MediaStream; a further track of the same kind in it has a group of its own. */
function grouped(tracks) {
  const groups = [];
  for (const { receiver, id, isScreen } of tracks) {
    const { kind } = receiver.track;
    let group = groups.find((one) => one.id === id && !one[kind]);
    if (!group) {
      const same = groups.filter((one) => one.id === id).length;
      group = { id, key: `${same} ${id}`, isScreen: false };
      groups.push(group);
    }
    group[kind] = receiver;
    group.isScreen ||= isScreen;
  }
  return groups;
}

/** Joins a microphone and a camera that arrive in MediaStreams of their own. */
function merged(groups) {
  const own = groups.filter((group) => !group.isScreen);
  if (own.length !== 2 || own.some((group) => kinds.every((kind) => group[kind]))) return groups;
  const [first, second] = own;
  if (kinds.some((kind) => first[kind] && second[kind])) return groups;
  for (const kind of kinds) first[kind] ??= second[kind];
  return groups.filter((group) => group !== second);
}

/** Changes the tracks of a MediaStream; those that stay are not interrupted. */
function setTracks(stream, tracks) {
  for (const track of stream.getTracks()) if (!tracks.includes(track)) stream.removeTrack(track);
  for (const track of tracks) stream.addTrack(track);
}

/** The mids of the sections of a description that say that they show a screen (`a=content:slides`, RFC 4796). */
export function screenMids(sdp) {
  const mids = new Set();
  for (const section of String(sdp).split(/^m=/m).slice(1)) {
    const mid = section.match(/^a=mid:(\S+)/m)?.[1];
    const contents = section.match(/^a=content:(\S+)/m)?.[1].split(',') ?? [];
    if (mid !== undefined && contents.includes('slides')) mids.add(mid);
  }
  return mids;
}

/** The description with `a=content:slides` in the sections with these mids. */
export function markScreens(sdp, mids) {
  if (mids.size === 0) return sdp;
  return sdp.replace(/^a=mid:(\S+)\r\n/gm, (line, mid) => (mids.has(mid) ? `${line}a=content:slides\r\n` : line));
}
