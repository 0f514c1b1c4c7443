internal import FileSource
internal import Glibc
package import Inspection
internal import Media
internal import Recorder

extension CallList {
  /// Finds the calls of which there are recordings. It reads the manifests only, and, with `isPartial`, the files of recordings that are
  /// not finished.
  ///
  /// - Parameters:
  ///   - paths: folders and manifests.
  ///   - isPartial: whether recordings that are not finished count up to their present end.
  package init(searching paths: [String], isPartial: Bool = false) throws(CompositionError) {
    var search = RecordingSearch()
    var missing: [String] = []
    for path in paths {
      if access(path, F_OK) == 0 {
        search.add(path)
      } else {
        missing.append("“\(RecordedName.shown(path))” does not exist.")
      }
    }
    let found = isPartial ? search.recordings.map { $0.upToPresentEnd() } : search.recordings
    try self.init(of: found, problems: missing + search.problems + search.remarks)
    if calls.isEmpty {
      throw .input(problems.isEmpty ? "There is no recording." : problems.joined(separator: " "))
    }
  }

  /// Sorts recordings into calls.
  ///
  /// - Parameter problems: what is known to be missing already, a sentence each.
  /// - Throws: an error for manifests with impossible times.
  package init(of recordings: [FoundRecording], problems: [String] = []) throws(CompositionError) {
    var known: [(recording: FoundRecording, times: ManifestTimes)] = []
    var problems = problems
    var refused: [String] = []
    for recording in recordings {
      guard let manifest = recording.manifest else {
        problems += recording.files.map { "“\(RecordedName.shown($0.path))” has no manifest, so it is left out." }
        continue
      }
      do throws(ManifestTimes.ImpossibleTime) {
        let times = try ManifestTimes(manifest.content)
        if times.end > 0 { known.append((recording, times)) }
      } catch {
        refused.append("“\(RecordedName.shown(manifest.path))” is refused: its field \(error.field) \(error.clause).")
      }
    }
    guard refused.isEmpty else { throw .input(refused.prefix(10).joined(separator: "\n")) }
    let layout = InspectionLayout(
      known.map { recording, times in
        InspectionLayout.Span(
          room: recording.manifest?.content.room ?? "", began: times.start, length: times.end / Self.unitsOfMillisecond,
          session: times.session)
      })
    let calls = layout.groups.enumerated().map { index, group in
      Self.call(
        number: index + 1, group,
        of: group.recordings.map { (known[$0].recording, known[$0].times, layout.offsets[$0]) })
    }
    self.init(calls: calls, problems: problems)
  }

  private static let unitsOfMillisecond = Int64(MediaTimebase.rate / 1_000)

  private static func call(
    number: Int, _ group: InspectionLayout.Call,
    of members: [(recording: FoundRecording, times: ManifestTimes, offset: Int64)]
  ) -> FoundCall {
    let first = members.first?.times.session?.id
    var end: Int64 = 0
    var known: [UserGroup.Member] = []
    var recordings: [FoundRecordingOfCall] = []
    for (index, member) in members.enumerated() {
      let offset = member.offset * unitsOfMillisecond
      end = max(end, offset + member.times.end)
      let session = member.times.session?.id
      let isExact = session != nil && session == first
      // Both offsets are rounded to milliseconds.
      let error = index == 0 ? 0 : isExact ? unitsOfMillisecond : nil
      let alignment = RecordingAlignment(
        source: isExact ? .session : .start, error: error, internalError: member.times.error)
      let found = FoundRecordingOfCall(recording: member.recording, offset: offset, alignment: alignment)
      recordings.append(found)
      known.append(.init(found, member.times))
    }
    var users: [String] = []
    for user in UserGroup.groups(of: known) {
      let label = ShownText.name(user.name ?? user.ids.first ?? "")
      if !users.contains(label) { users.append(label) }
    }
    let unfinished = members.compactMap { member in
      member.recording.manifest.flatMap { $0.content.finished ? nil : $0.path }
    }
    return FoundCall(
      number: number, room: UntrustedText(group.room), start: group.start, duration: end, recordings: recordings,
      users: users, unfinished: unfinished)
  }
}

extension CallList {
  /// Returns the calls that the options want.
  ///
  /// - Throws: a list of the calls if there are several and none is chosen, and how to repair recordings of a chosen one that are not
  ///   finished.
  package func selected(by options: CompositionOptions) throws(CompositionError) -> [FoundCall] {
    var chosen = calls
    switch options.calls {
    case .all: break
    case .number(let number):
      chosen = calls.filter { $0.number == number }
      if chosen.isEmpty {
        let count = calls.count == 1 ? "is 1 call" : "are \(calls.count) calls"
        throw .input("There is no call \(number): there \(count).\n\(text)")
      }
    case .only:
      if calls.count > 1 {
        throw .input("There are \(calls.count) calls. --call N composes one of them, --all each of them.\n\(text)")
      }
    }
    // Of all calls, each is refused alone.
    if options.calls != .all { for call in chosen { try call.checkFinished(options) } }
    return chosen
  }

  /// A line for each call: its number, room, start, length and users.
  package var text: String {
    calls.map { call in
      let users = call.users.prefix(10).joined(separator: ", ") + (call.users.count > 10 ? ", …" : "")
      let note = call.unfinished.isEmpty ? "" : " (not finished)"
      return "  \(call.number)  room \(call.room)  \(RecordedClock.text(call.start))  "
        + "\(ShownTime.text(call.duration))  \(users)\(note)"
    }.joined(separator: "\n")
  }
}

extension FoundCall {
  /// - Throws: how to repair recordings that are not finished, unless the options want what there is of them.
  package func checkFinished(_ options: CompositionOptions) throws(CompositionError) {
    if unfinished.isEmpty || options.isPartial { return }
    let names = unfinished.prefix(10).map { RecordedName.shown($0) }
    let commands = names.map { "  chatbot repair \($0)" } + (unfinished.count > 10 ? ["  …"] : [])
    throw .input(
      "\(unfinished.count == 1 ? "A recording is" : "\(unfinished.count) recordings are") not finished: still being recorded, or "
        + "the recorder was killed. --partial composes what there is. If the recorder was killed, this completes the "
        + "files:\n" + commands.joined(separator: "\n"))
  }
}
