internal import FileSource
internal import Inspection
internal import Media
internal import Recorder

/// The recordings of a person in a call.
struct UserGroup: Sendable {
  /// The ids of the person, the first one first.
  private(set) var ids: [UntrustedText]
  /// The first name that is known.
  private(set) var name: UntrustedText?
  /// In order of their starts.
  private(set) var recordings: [Member]
  /// The end of the last recording of each stream.
  private var ends: [Int: Int64]

  /// A recording with its place in the call.
  struct Member: Sendable {
    let recording: FoundRecording
    let times: ManifestTimes
    /// The recording's start, in units of `MediaTimebase.rate`.
    let offset: Int64
    let alignment: RecordingAlignment
    let id: UntrustedText
    let name: UntrustedText?
    /// The number of the stream, from 1.
    let stream: Int
    /// What the stream shows, where that is known.
    let content: String?

    init(_ found: FoundRecordingOfCall, _ times: ManifestTimes) {
      let recording = found.recording
      (self.recording, self.times) = (recording, times)
      (offset, alignment) = (found.offset, found.alignment)
      let manifest = recording.manifest?.content
      id = UntrustedText(manifest?.user ?? "")
      name = manifest?.name.flatMap { $0.isEmpty ? nil : UntrustedText($0) }
      stream = max(1, manifest?.stream.number ?? 1)
      content = manifest?.stream.content
    }

    var end: Int64 { offset + times.end }
    fileprivate var session: String? { times.session?.id }
  }

  /// How far two recordings of a stream may overlap and be those of one person: 2 s. An interrupted connection is noticed late.
  private static let overlap = 2 * Int64(MediaTimebase.rate)

  private init(_ first: Member) {
    ids = [first.id]
    name = first.name
    recordings = [first]
    ends = [first.stream: first.end]
  }

  private mutating func add(_ member: Member) {
    if !ids.contains(member.id) { ids.append(member.id) }
    if name == nil { name = member.name }
    recordings.append(member)
    ends[member.stream] = max(ends[member.stream] ?? .min, member.end)
  }

  /// Sorts recordings by person, in order of first appearance.
  ///
  /// A person is one id. Where the server assigns new ids, somebody who returns has another id and the same name. Two recordings of one
  /// stream at the same time are of two persons, or were made by two recorders.
  ///
  /// - Parameter members: in any order.
  static func groups(of members: [Member]) -> [UserGroup] {
    var groups: [UserGroup] = []
    var byID: [UntrustedText: [Int]] = [:]
    var byName: [UntrustedText: [Int]] = [:]
    let inOrder = members.enumerated().sorted { one, other in
      (one.element.offset, one.element.stream, one.offset) < (other.element.offset, other.element.stream, other.offset)
    }.map(\.element)
    for member in inOrder {
      let candidates = (byID[member.id] ?? []).filter { groups[$0].accepts(member) }
      let returning = member.name.flatMap { name in
        (byName[name] ?? []).first { groups[$0].accepts(returning: member) }
      }
      // Of two recorders, each continues its own recordings.
      let known = candidates.first { groups[$0].wasRecorded(by: member.session) } ?? candidates.first ?? returning
      let index = known ?? groups.count
      if known == nil { groups.append(UserGroup(member)) } else { groups[index].add(member) }
      if !(byID[member.id] ?? []).contains(index) { byID[member.id, default: []].append(index) }
      if let name = member.name, !(byName[name] ?? []).contains(index) { byName[name, default: []].append(index) }
    }
    return groups
  }

  private func accepts(_ member: Member) -> Bool {
    ends[member.stream].map { $0 - Self.overlap <= member.offset } ?? true
  }

  private func accepts(returning member: Member) -> Bool {
    !ids.contains(member.id) && ends.values.allSatisfy { $0 <= member.offset }
  }

  private func wasRecorded(by session: String?) -> Bool { recordings.contains { $0.session == session } }

  /// Whether the person has this name or id.
  func isCalled(_ text: UntrustedText) -> Bool { name == text || ids.contains(text) }
}
