internal import FileSource
package import Inspection
internal import Media

extension CompositionPlan {
  /// The most users of a composition.
  package static let maximumUsers = 200
  /// The longest composition: 24 h.
  package static let maximumDuration = 24 * 3_600 * Int64(MediaTimebase.rate)

  /// Plans the composition of a call.
  ///
  /// - Parameters:
  ///   - problems: what is known to be missing already, a sentence each.
  ///   - chat: returns the messages beside a recording. By default it reads them.
  package init(
    of call: FoundCall, options: CompositionOptions, problems: [String] = [],
    chat: (FoundRecording) -> [RecordedChat.Message] = { RecordedChat(beside: $0).messages }
  ) throws(CompositionError) {
    let (groups, unknown) = try Self.included(call, options)
    let members = groups.flatMap(\.recordings)
    // Time zero is the first frame of the first user.
    let zero = members.map(\.offset).min() ?? 0
    let end = members.map(\.end).max() ?? 0
    let range = try Self.range(of: options, zero: zero, end: end)
    self.init(
      room: call.room, start: call.start + range.lowerBound / Self.unitsOfMillisecond,
      duration: range.upperBound - range.lowerBound)
    self.problems = problems + unknown
    var parts: [UserParts] = groups.map { UserParts($0, range: range, options: options) }
    parts.removeAll { $0.user.presence.isEmpty }
    parts = parts.enumerated().sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }.map(\.element)
    users = parts.map(\.user)
    for (index, part) in parts.enumerated() {
      tiles += part.tiles(user: index)
      sounds += part.sounds(user: index)
      self.problems += part.problems
    }
    tiles = tiles.enumerated().sorted { one, other in
      (one.element.start, one.element.user, one.offset) < (other.element.start, other.element.user, other.offset)
    }.map(\.element)
    if let problem = options.layout.problem(for: layoutTiles) { throw .usage(problem) }
    if options.hasChapters { chapters = Self.chapters(of: users, duration: duration) }
    if options.hasChat { messages = PlannedMessage.messages(of: parts, users: users, range: range, chat: chat) }
  }

  private static let unitsOfMillisecond = Int64(MediaTimebase.rate / 1_000)

  /// Returns the users who are composed, and a sentence for each name of `--exclude` that nobody has.
  private static func included(
    _ call: FoundCall, _ options: CompositionOptions
  ) throws(CompositionError) -> (groups: [UserGroup], problems: [String]) {
    var members: [UserGroup.Member] = []
    for found in call.recordings {
      guard let manifest = found.recording.manifest else { continue }
      do throws(ManifestTimes.ImpossibleTime) {
        members.append(.init(found, try ManifestTimes(manifest.content)))
      } catch {
        throw .input("The field \(error.field) of “\(RecordedName.shown(manifest.path))” \(error.clause).")
      }
    }
    let all = UserGroup.groups(of: members)
    let groups = all.filter { group in !options.excluded.contains { group.isCalled($0) } }
    let unknown = options.excluded.filter { name in !all.contains { $0.isCalled(name) } }
    if groups.isEmpty { throw .usage("Nobody is left: all users of the call are excluded.") }
    if groups.count > maximumUsers {
      throw .usage(
        "The call has \(groups.count) users, and at most \(maximumUsers) can be composed: leave out some with --exclude."
      )
    }
    return (groups, unknown.map { "No user of the call has the name or id “\($0)” that is to be excluded." })
  }

  /// Returns the part of the call that is composed, on the time axis of the call.
  private static func range(
    of options: CompositionOptions, zero: Int64, end: Int64
  ) throws(CompositionError) -> Range<Int64> {
    let length = end - zero
    guard options.from < length else {
      throw .usage(
        "Nothing is left: the call ends at \(ShownTime.text(length)), and --from is \(ShownTime.text(options.from)).")
    }
    let to = min(options.to ?? length, length)
    guard options.from < to else {
      throw .usage("Nothing is left: --to is \(ShownTime.text(to)), and --from is \(ShownTime.text(options.from)).")
    }
    guard to - options.from <= maximumDuration else {
      throw .usage(
        "The composition would last \(ShownTime.text(to - options.from)), and at most 24 h can be composed: choose a part with "
          + "--from and --to.")
    }
    return zero + options.from..<zero + to
  }
}
