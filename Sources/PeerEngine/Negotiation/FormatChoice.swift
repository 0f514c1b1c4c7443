internal import Media

/// The format of an answer: one of those that a section of the remote side's offer has.
///
/// An answer has one, because a sender may change between several at any packet, and a recording would change with it.
struct FormatChoice: Sendable, Hashable {
  var format: MediaFormat
  /// A format of each other codec, and of each other profile, where we send frames of any.
  var alternatives: [MediaFormat] = []
  /// The format of RED that repeats it, if we accept one.
  var redundancy: RedundancyFormat?
  /// Whether we can send our media in this format.
  var isSendable: Bool

  /// Chooses the first of the remote side's formats that we support and, if we send in the section, that our source has.
  ///
  /// - Parameters:
  ///   - preferences: our codecs. If somebody chose them, their order counts rather than that of the offer.
  ///   - sends: whether we send in the section; `receives`, whether the remote side does and we receive it.
  ///   - kept: the formats that were agreed for the section before, the preferred one first. One of them that is still offered is
  ///     chosen again.
  init(of remote: RemoteMedia, preferences: CodecPreferences, sends: Bool, receives: Bool, kept: [MediaFormat] = []) {
    let sent = sends ? preferences.sent[remote.kind] : nil
    let sendable = sent.map { sent in remote.formats.filter { $0.codec == sent && preferences.canSend($0) } }
    isSendable = sendable?.isEmpty != true
    var formats = isSendable ? sendable ?? remote.formats : remote.formats
    if let order = preferences.chosen(remote.kind) {
      formats = order.flatMap { codec in formats.filter { $0.codec == codec } }
    }
    format =
      Self.kept(kept, in: formats)
      ?? Self.first(of: formats, sends: sends || preferences.answersWithEachCodec) ?? remote.formats[0]
    let chosen = format
    if sends, !receives {
      for format in formats where preferences.canSend(format) {
        guard preferences.answersWithEachCodec || format.codec == chosen.codec else { continue }
        let isKnown = ([chosen] + alternatives).contains { $0.codec == format.codec && $0.profile == format.profile }
        if !isKnown { alternatives.append(format) }
      }
    }
    guard receives, preferences.acceptsRedundantAudio else { return }
    redundancy = remote.redundancies.first { $0.blockPayloadType == chosen.payloadType }
  }

  /// Returns the format that stands for one that was agreed before, if possible with the same payload type.
  private static func kept(_ agreed: [MediaFormat], in formats: [MediaFormat]) -> MediaFormat? {
    for former in agreed {
      let same = formats.filter { $0.isSame(as: former) }
      if let format = same.first(where: { $0.payloadType == former.payloadType }) ?? same.first { return format }
    }
    return nil
  }

  /// Returns the first format, or another one of its codec that allows more: packetization mode 1 of H.264 is better than mode 0, and
  /// where we send or forward, so is the profile that we send.
  private static func first(of formats: [MediaFormat], sends: Bool) -> MediaFormat? {
    formats.first { $0.codec == formats[0].codec && (sends ? $0.isUsual : $0.allowsLargeFrames) } ?? formats.first
  }
}
