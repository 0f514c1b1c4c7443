import Media
import Recorder

/// A synthetic call that the recorder records faster than real time: users who come and go and send the test pattern.
package struct RecordedCall: Sendable {
  package var room: String
  package var users: [RecordedUser]

  package init(_ users: [RecordedUser], room: String = "100") {
    self.room = room
    self.users = users
  }

  /// Any instant: nothing reads the clock.
  private static let beginning = MonotonicInstant.now
  /// How long everything travels, in seconds.
  private static let delay = 0.01
  /// How far the time goes on at once, in seconds.
  private static let step = 0.1

  private static func instant(_ time: Double) -> MonotonicInstant { beginning + .nanoseconds(Int64(time * 1e9)) }

  /// Records the call into a folder, which is created.
  package func record(into folder: String) async throws {
    var cameras = SharedTracks()
    for session in Set(users.map(\.session)).sorted() {
      try await record(users.filter { $0.session == session }, into: folder, cameras: &cameras)
    }
  }

  private func record(_ users: [RecordedUser], into folder: String, cameras: inout SharedTracks) async throws {
    let first = users.map(\.stay.lowerBound).min() ?? 0
    var configuration = RoomRecorder.Configuration(folder: folder, room: room)
    configuration.verifies = false
    configuration.usesSystemClock = false
    configuration.session = RecordingSession(
      clock: WallClock(
        moment: Self.instant(first - 1), secondsSince1970: Double(SenderClock.beginning) / 1_000 + first - 1))
    let unfinishedBefore = RoomRecorder.unfinished(in: folder)
    let recorder = try RoomRecorder(configuration)
    var waiting = users.sorted { $0.stay.lowerBound < $1.stay.lowerBound }
    var present: [UserInCall] = []
    var time = (first / Self.step).rounded(.down) * Self.step
    while !waiting.isEmpty || !present.isEmpty {
      let end = time + Self.step
      while let user = waiting.first, user.stay.lowerBound < end {
        waiting.removeFirst()
        let moment = Self.instant(user.stay.lowerBound)
        let wallClock = Double(SenderClock.beginning) / 1_000 + user.stay.lowerBound + user.wallClockShift
        recorder.begin(ParticipantID(user.id), name: user.name, now: moment.instant, wallClock: wallClock)
        present.append(try UserInCall(user, tracks: &cameras))
      }
      var arrivals: [(at: Double, user: ParticipantID, event: MediaEvent)] = []
      for user in present {
        arrivals += try user.events(before: end).map { ($0.at + Self.delay, user.id, event($0, of: user.id)) }
      }
      for arrival in arrivals.enumerated().sorted(by: { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }) {
        let (at, user, event) = arrival.element
        recorder.receive(event, of: user, now: Self.instant(at).instant)
      }
      await recorder.advance(now: Self.instant(end))
      for user in present where user.stay.upperBound <= end && user.endReason != .killed {
        recorder.end(
          user.id, reason: user.endReason == .left ? .left : .connectionLost,
          now: Self.instant(max(user.stay.upperBound, end) + Self.delay).instant)
      }
      present.removeAll { $0.stay.upperBound <= end }
      time = end
    }
    if users.contains(where: { $0.endReason == .killed }) { return }
    // The recorder writes the ends of files step by step.
    for _ in 0..<20 {
      time += Self.step
      await recorder.advance(now: Self.instant(time))
    }
    let end = Self.instant(time + 1).instant
    let finishing = Task { await recorder.finish(now: end, within: .seconds(60)) }
    // A disk that had no room for a moment is tried again after a second, and nobody else makes the time go on.
    let last = time + 30
    while time < last {
      time += Self.step
      await recorder.advance(now: Self.instant(time))
      if recorder.status().isEmpty { break }
      try await Task.sleep(for: .milliseconds(5))
    }
    _ = await finishing.value
    let unfinished = RoomRecorder.unfinished(in: folder).filter { !unfinishedBefore.contains($0) }
    if !unfinished.isEmpty {
      var problems: [String] = []
      for await problem in recorder.problems { problems.append(problem.sentence) }
      throw Unfinished(names: unfinished, problems: problems)
    }
  }

  /// Recordings that the disk did not accept.
  package struct Unfinished: Error, CustomStringConvertible {
    let names: [String]
    let problems: [String]

    package var description: String {
      "Not finished: \(names.joined(separator: ", ")). \(problems.joined(separator: " "))"
    }
  }

  private func event(_ event: UserInCall.Event, of user: ParticipantID) -> MediaEvent {
    let arrival = Self.instant(event.at + Self.delay).instant
    switch event.content {
    case .piece(let piece):
      var frame = EncodedFrame(
        owner: user, stream: event.stream, codec: piece.codec,
        time: MediaTime(ticks: UserInCall.firstTicks + piece.ticks, rate: piece.codec.clockRate),
        payload: piece.payload, isKeyframe: piece.isKeyframe, size: piece.size, arrival: arrival, gap: piece.gap)
      frame.orientation = piece.orientation
      frame.isReordered = piece.isReordered
      return .frame(frame)
    case .report(let codec, let ticks):
      return .clock(
        ClockReport(
          owner: user, stream: event.stream, codec: codec,
          time: MediaTime(ticks: UserInCall.firstTicks + ticks, rate: codec.clockRate),
          ntp: UInt64((3_900_000_000 + event.at) * 4_294_967_296), arrival: arrival))
    case .described(let stream): return .described(stream)
    }
  }
}
