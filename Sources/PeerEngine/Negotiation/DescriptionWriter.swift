internal import ICE
internal import Media
internal import SDP

/// Writes our offers and answers, with the attributes and the order that Chromium uses.
///
/// Every accepted media section has ICE and DTLS attributes. Only the first one has candidates, because the others share
/// its transport.
struct DescriptionWriter {
  var local: LocalDescription
  var credentials: ICECredentials
  var version: UInt64
  var setup: SetupRole
  /// The mids of the bundle, beginning with the one that describes the transport; empty without a bundle.
  var bundle: [String]

  func write(_ sections: [LocalSection]) -> String {
    var description = SessionDescription()
    description.append(type: "v", "0")
    description.append(type: "o", Origin(sessionID: "\(local.sessionID)", version: "\(version)").text)
    description.append(type: "s", "-")
    description.append(type: "t", "0 0")
    if !bundle.isEmpty { description.append("group", "BUNDLE " + bundle.joined(separator: " ")) }
    if sections.contains(where: { $0.media?.allowsMixedExtensions == true }) {
      description.append("extmap-allow-mixed")
    }
    let sent = Set(sections.compactMap(\.media).filter(\.direction.sends).map(\.stream)).sorted()
    description.append("msid-semantic", ([" WMS"] + sent.map(local.streamID)).joined(separator: " "))

    // The media section that describes the transport; without a bundle there is only one.
    let first = sections.firstIndex { section in
      section.isUsed && (bundle.isEmpty || section.mid == bundle.first)
    }
    description.sections = sections.enumerated().map { index, section in
      switch section.content {
      case .refused(let format): rejection(of: section, format: format)
      case .media(let media): write(section, media, withCandidates: index == first)
      case .data(let data): write(section, data, withCandidates: index == first)
      }
    }
    return description.text
  }

  private func rejection(of section: LocalSection, format: String) -> MediaSection {
    var written = MediaSection(
      MediaLine(kind: section.kind, port: 0, transportProtocol: section.transportProtocol, formats: [format]))
    written.append(type: "c", "IN IP4 0.0.0.0")
    if let mid = section.mid { written.append("mid", mid) }
    written.append("inactive")
    return written
  }

  private func write(_ section: LocalSection, _ media: LocalMedia, withCandidates: Bool) -> MediaSection {
    let formats = media.payloadTypes.map { String($0) }
    // Port 9 and no address: the candidates are trickled (RFC 8840, 4.1.1).
    var written = MediaSection(
      MediaLine(kind: section.kind, port: 9, transportProtocol: section.transportProtocol, formats: formats))
    written.append(type: "c", "IN IP4 0.0.0.0")
    written.append("rtcp", "9 IN IP4 0.0.0.0")
    appendTransport(of: section, withCandidates: withCandidates, to: &written)
    appendExtensions(media, to: &written)
    written.append(media.direction.rawValue)
    let track = media.direction.sends ? local[.init(stream: media.stream, kind: media.kind)] : nil
    if let track { written.append("msid", "\(local.streamID(media.stream)) \(track.trackID)") }
    written.append("rtcp-mux")
    // RTCP has no socket of its own here, and only an offer may say so (RFC 8858, 3).
    if setup == .actpass { written.append("rtcp-mux-only") }
    if media.supportsReducedSizeRTCP { written.append("rtcp-rsize") }
    if media.supportsRRTR { written.append("rtcp-xr", "rcvr-rtt=all") }
    appendFormats(media, to: &written)
    if let track { appendSources(track, media, to: &written) }
    if !media.streams.isEmpty {
      for stream in media.streams {
        written.append("rid", stream.text)
      }
      written.append("simulcast", SimulcastDescription(received: media.streams.map { [$0.id] }).text)
    }
    return written
  }

  private func write(_ section: LocalSection, _ data: DataSection, withCandidates: Bool) -> MediaSection {
    var written = MediaSection(
      MediaLine(kind: section.kind, port: 9, transportProtocol: section.transportProtocol, formats: data.formats))
    written.append(type: "c", "IN IP4 0.0.0.0")
    appendTransport(of: section, withCandidates: withCandidates, to: &written)
    data.write(into: &written)
    return written
  }

  private func appendTransport(of section: LocalSection, withCandidates: Bool, to written: inout MediaSection) {
    if withCandidates {
      for candidate in local.candidates {
        written.append("candidate", String(candidate.dropFirst("candidate:".count)))
      }
    }
    written.append("ice-ufrag", credentials.usernameFragment)
    written.append("ice-pwd", credentials.password)
    written.append("ice-options", "trickle")
    written.append("fingerprint", local.fingerprint.attribute.text)
    written.append("setup", setup.rawValue)
    if let mid = section.mid { written.append("mid", mid) }
  }

  private func appendExtensions(_ media: LocalMedia, to written: inout MediaSection) {
    let known = HeaderExtension.allCases.compactMap { known in media.extensions[known].map { (known, $0) } }
    for (known, id) in known.sorted(by: { $0.1 < $1.1 }) {
      let map = HeaderExtensionMap(
        id: UInt16(id), direction: media.extensionDirections[known], uri: known.uri)
      written.append("extmap", map.text)
    }
  }

  private func appendFormats(_ media: LocalMedia, to written: inout MediaSection) {
    for format in media.formats {
      let number = format.payloadType
      if let redundancy = media.redundancy, redundancy.blockPayloadType == number {
        let blocks = Array(repeating: "\(number)", count: RedundancyFormat.blocks).joined(separator: "/")
        written.append("rtpmap", "\(redundancy.payloadType) \(format.codec.redundancyEncoding)")
        written.append("fmtp", "\(redundancy.payloadType) \(blocks)")
      }
      written.append("rtpmap", "\(number) \(format.codec.encoding)")
      for value in format.feedback.values {
        written.append("rtcp-fb", "\(number) \(value)")
      }
      if let parameters = format.parameters?.text
        ?? format.codec.formatParameters(of: format, stereo: media.acceptsStereo)
      {
        written.append("fmtp", "\(number) \(parameters)")
      }
      if let retransmission = format.retransmissionPayloadType {
        written.append("rtpmap", "\(retransmission) rtx/\(format.codec.clockRate)")
        written.append("fmtp", "\(retransmission) apt=\(number)")
      }
    }
  }

  private func appendSources(_ track: LocalTrack, _ media: LocalMedia, to written: inout MediaSection) {
    var sources = [track.ssrc]
    if media.formats.contains(where: { $0.retransmissionPayloadType != nil }),
      let retransmission = track.retransmissionSSRC
    {
      sources.append(retransmission)
      written.append("ssrc-group", SourceGroup(semantics: "FID", sources: sources).text)
    }
    for source in sources {
      written.append("ssrc", SourceAttribute(ssrc: source, name: "cname", value: local.cname).text)
      // Plan B clients identify a source's stream and track only by this attribute.
      let names = "\(local.streamID(media.stream)) \(track.trackID)"
      written.append("ssrc", SourceAttribute(ssrc: source, name: "msid", value: names).text)
    }
  }
}
