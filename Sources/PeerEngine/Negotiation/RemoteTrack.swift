internal import Media
internal import SDP

/// A track that the remote side may send in a media section: one with the usual Unified Plan (RFC 8829, 4.2), several with Plan B,
/// in which old clients put all sources of a kind into one section and distinguish them by `a=ssrc … msid`.
struct RemoteTrack: Sendable, Hashable {
  /// The id of its stream in `a=msid` (RFC 8830); nil without one.
  var streamID: String?
  /// The id of the track in `a=ssrc … msid`, if the section has no `a=msid` of its own: that of Plan B.
  var trackID: String?
  /// The announced sources, each with its retransmission source; empty if none is announced.
  var sources: [NegotiatedMedia.RemoteSource] = []

  /// More tracks in one section are ignored.
  private static let maximumTracks = 16
  /// Far more than any program announces in one section.
  private static let maximumSources = 64
  /// A stream id is at most this long (RFC 8830, 2: 64 characters); more is cut off.
  private static let maximumIDBytes = 64

  /// Returns the tracks of a section, at least one.
  static func tracks(of section: MediaSection) -> [RemoteTrack] {
    let announced = sources(of: section)
    let streamID = section.attribute("msid").flatMap { Self.stream(of: $0) }
    var tracks: [(names: Names, track: RemoteTrack)] = []
    var unnamed: [NegotiatedMedia.RemoteSource] = []
    for (source, names) in announced {
      guard let names else {
        unnamed.append(source)
        continue
      }
      if let position = tracks.firstIndex(where: { $0.names == names }) {
        tracks[position].track.sources.append(source)
      } else if tracks.count < maximumTracks {
        tracks.append((names, RemoteTrack(streamID: names.stream, trackID: names.track, sources: [source])))
      }
    }
    guard tracks.count > 1 else {
      let only = tracks.first?.track
      return [
        RemoteTrack(
          streamID: streamID ?? only?.streamID, trackID: section.hasAttribute("msid") ? nil : only?.trackID,
          sources: announced.map(\.source))
      ]
    }
    tracks[0].track.sources += unnamed
    return tracks.map(\.track)
  }

  /// The stream and the track in `msid`.
  private struct Names: Hashable {
    var stream: String?
    var track: String

    init(parsing value: String) {
      let ids = value.fields()
      stream = RemoteTrack.stream(of: value)
      track = RemoteTrack.bounded(ids.count > 1 ? ids[1] : value)
    }
  }

  /// Returns the stream id in a value of `msid`; nil for a track that belongs to no stream, which is written as `-`.
  private static func stream(of value: String) -> String? {
    guard let id = value.fields().first, id != "-" else { return nil }
    return bounded(id)
  }

  private static func bounded(_ id: String) -> String {
    id.prefix(utf8Bytes: maximumIDBytes)
  }

  /// Returns the announced sources, without those that only retransmit or protect others.
  private static func sources(
    of section: MediaSection
  ) -> [(source: NegotiatedMedia.RemoteSource, names: Names?)] {
    var sources: [(source: NegotiatedMedia.RemoteSource, names: Names?)] = []
    var positions: [UInt32: Int] = [:]
    for attribute in section.attributes("ssrc").lazy.compactMap({ SourceAttribute(parsing: $0) }) {
      let position = positions[attribute.ssrc] ?? sources.count
      if position == sources.count {
        guard sources.count < maximumSources else { continue }
        sources.append((NegotiatedMedia.RemoteSource(ssrc: attribute.ssrc), nil))
        positions[attribute.ssrc] = position
      }
      guard let value = attribute.value else { continue }
      if attribute.name == "cname", sources[position].source.cname == nil { sources[position].source.cname = value }
      if attribute.name == "msid", sources[position].names == nil { sources[position].names = Names(parsing: value) }
    }
    var repairing: Set<UInt32> = []
    for group in section.attributes("ssrc-group").compactMap({ SourceGroup(parsing: $0) }) {
      guard group.sources.count == 2, group.sources[0] != group.sources[1] else { continue }
      guard let position = positions[group.sources[0]] else { continue }
      switch group.semantics {
      case "FID" where sources[position].source.retransmissionSSRC == nil:
        sources[position].source.retransmissionSSRC = group.sources[1]
        repairing.insert(group.sources[1])
      case "FEC-FR":
        repairing.insert(group.sources[1])
      default: break
      }
    }
    return sources.filter { !repairing.contains($0.source.ssrc) }
  }
}
