import BotPeer
import FileSource
import Foundation
import Logging
import Media
import NIOCore
import NIOPosix
import Recorder
import SkyRTC

/// One stay in one room: signalling, peer, recorder and file joined together. Wiring only; each of them does its own work.
struct Call {
  private let options: CallOptions
  private let console: Console
  private let log: Logger

  /// What the tasks of a call share.
  struct Parts: Sendable {
    let client: SkyRTCClient
    let peer: BotPeer
    let recorder: Recorder?
    let source: FileSource?
    let roster: Roster
  }

  /// Why a call ended.
  enum Ending {
    case interrupted
    case timeIsUp
    case fileEnded
    case signallingEnded
    /// The server never let us in.
    case notAdmitted(String)
  }

  init(_ options: CallOptions, console: Console, log: Logger) {
    self.options = options
    self.console = console
    self.log = log
  }

  func run() async throws {
    let interruption = Interruption()
    // What can be wrong without a network is found before anybody is disturbed.
    let source = try openSource()
    let recorder = try openRecorder()
    let roster = Roster()
    let peer = try await startPeer(source: source, roster: roster)
    let connection = try await ServerFinder(options: options, console: console, log: log).connect()
    interruption.beginOrderly()
    let parts = Parts(
      client: connection.client, peer: peer, recorder: recorder, source: source, roster: roster)
    log.info("media", metadata: ["addresses": "\(peer.localAddresses.joined(separator: " "))"])

    async let media: Void = followPeer(parts)
    async let summaries: Void = followSummaries(parts)
    async let problems: Void = followProblems(parts)
    let ending = await untilEnd(parts, interruption: interruption)
    log.info("leaving", metadata: ["reason": "\(ending)"])
    await peer.close(reason: "The bot left the room.")
    await media
    await recorder?.finish(now: .now)
    await summaries
    await problems
    await connection.client.close()
    await connection.embedded?.shutdown()
    console.clearStatus()
    if case .notAdmitted(let reason) = ending {
      throw CallFailure(.serverNotReached, "\(options.serverURL) did not let us in: \(reason)")
    }
    if let failure = await source?.failure { throw CallFailure(.fileNotPlayable, failure.description) }
    if recorder != nil { try report(roster) }
  }

  // MARK: Setting up

  private func openSource() throws(CallFailure) -> FileSource? {
    guard let path = options.play else { return nil }
    do {
      let source = try FileSource(opening: path, loops: options.loops, owner: ParticipantID("camera"), logger: log)
      log.info("file", metadata: ["content": "\(source.file.summary)"])
      for remark in source.file.remarks { log.warning("\(remark)", metadata: ["file": "\(path)"]) }
      return source
    } catch {
      throw CallFailure(.fileNotPlayable, error.description)
    }
  }

  private func openRecorder() throws(CallFailure) -> Recorder? {
    guard let folder = options.record else { return nil }
    var configuration = Recorder.Configuration(folder: folder, room: options.room ?? CallOptions.defaultRoom)
    configuration.verifies = options.verifies
    configuration.segment = options.segmentLimit
    do {
      let recorder = try Recorder(configuration)
      tellUnfinished(in: folder)
      return recorder
    } catch {
      throw CallFailure(.disk, error.description)
    }
  }

  /// Says how to mend what an earlier program left unfinished.
  private func tellUnfinished(in folder: String) {
    let unfinished = Recorder.unfinished(in: folder)
    guard let first = unfinished.first else { return }
    let what = unfinished.count == 1 ? "The recording \(first)" : "\(unfinished.count) recordings"
    let verb = unfinished.count == 1 ? "was" : "were"
    log.warning(
      "\(what) in this folder \(verb) never finished; chatbot repair mends that", metadata: ["folder": "\(folder)"])
  }

  private func startPeer(source: FileSource?, roster: Roster) async throws -> BotPeer {
    var configuration = BotPeer.Configuration()
    configuration.bindAddresses = options.bindAddress.map { [$0] } ?? []
    let host = (try? WebSocketURL(options.serverURL))?.host ?? ""
    configuration.includesLoopback = ["localhost", "127.0.0.1", "::1"].contains(host)
    configuration.udpPort = options.udpPort
    configuration.iceServers = options.iceServer
    configuration.sending = Set(source?.file.tracks.map(\.codec.kind) ?? [])
    configuration.isPolite = { roster.isPolite(towards: $0) }
    do {
      return try await BotPeer.start(configuration, on: MediaThread.loop, log: log)
    } catch let error as BotPeer.StartError {
      throw CallFailure(.usage, error.description)
    }
  }

  // MARK: While it lasts

  /// Runs everything that may end the call, and says what did.
  private func untilEnd(_ parts: Parts, interruption: Interruption) async -> Ending {
    await withTaskGroup(of: Ending?.self) { group in
      group.addTask {
        await interruption.first()
        return .interrupted
      }
      group.addTask {
        let ending = await followSignalling(parts)
        return Task.isCancelled ? nil : ending
      }
      if let duration = options.duration?.duration {
        group.addTask {
          try? await Task.sleep(for: duration)
          return Task.isCancelled ? nil : .timeIsUp
        }
      }
      if let source = parts.source {
        group.addTask {
          await play(source, parts)
          return Task.isCancelled ? nil : .fileEnded
        }
      }
      if let recorder = parts.recorder {
        group.addTask {
          for await participant in recorder.keyframeRequests { parts.peer.requestKeyframe(of: participant) }
          return nil
        }
      }
      if console.isTerminal {
        group.addTask {
          await StatusTask(parts: parts, console: console, room: options.room ?? CallOptions.defaultRoom).run()
          return nil
        }
      }
      for await ending in group {
        if let ending {
          group.cancelAll()
          return ending
        }
      }
      return .signallingEnded
    }
  }

  /// Carries what the server says to the peer.
  private func followSignalling(_ parts: Parts) async -> Ending {
    var hasJoined = false
    for await event in parts.client.events {
      switch event {
      case .joined(let you, let others):
        hasJoined = true
        let isSomeoneElse = parts.roster.joined(as: you)
        log.info("joined", metadata: ["id": "\(you)", "others": "\(others.count)"])
        // Whoever newly comes calls those who are there. A call that outlived the server goes on, unless the server knows us by
        // another name now: then those who are there have seen us leave.
        for other in others.map(ParticipantID.init) {
          if isSomeoneElse {
            parts.peer.disconnect(other, because: PeerEnding(.connectionLost, "The server lost us for a while."))
          } else if !parts.roster.begin(other) {
            continue
          }
          parts.peer.offer(to: other)
        }
      case .participantJoined(let id):
        log.info("user joined", metadata: ["user": "\(id)"])
      case .participantLeft(let id):
        log.info("user left", metadata: ["user": "\(id)"])
        // Whose way to the server alone broke is still recorded, as long as media comes.
        parts.peer.participantLeft(ParticipantID(id))
      case .offer(let id, let sdp):
        parts.peer.receive(.offer(sdp), from: ParticipantID(id))
      case .answer(let id, let sdp):
        parts.peer.receive(.answer(sdp), from: ParticipantID(id))
      case .candidate(let id, let candidate, let mid, let index):
        parts.peer.receive(
          .candidate(TrickledCandidate(candidate: candidate, mid: mid, mLineIndex: index)), from: ParticipantID(id))
      case .disconnected(let reason, _) where !hasJoined:
        return .notAdmitted(reason)
      case .disconnected(let reason, let delay):
        let retry = delay.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))
        log.warning("server lost, calls go on", metadata: ["reason": "\(reason)", "retry": "\(retry)"])
      }
    }
    return .signallingEnded
  }

  /// Notes each recording that is closed, until the recorder is done.
  private func followSummaries(_ parts: Parts) async {
    guard let recorder = parts.recorder else { return }
    for await summary in recorder.summaries { parts.roster.recorded(summary) }
  }

  /// Tells what goes wrong with a recording, until the recorder is done.
  private func followProblems(_ parts: Parts) async {
    guard let recorder = parts.recorder else { return }
    for await problem in recorder.problems {
      let user: Logger.Metadata = ["user": "\(problem.participant)"]
      switch problem.kind {
      case .stalled: log.warning("\(problem)", metadata: user)
      case .resumed: log.notice("\(problem)", metadata: user)
      case .lost:
        log.error("\(problem)", metadata: user)
        parts.roster.recordingFailed(problem.sentence)
      }
    }
  }

  /// Carries what the peer brings to the server and the recorder, until the peer has been closed and all is handed over.
  private func followPeer(_ parts: Parts) async {
    for await happening in parts.peer.events {
      let participant = happening.participant
      let user: Logger.Metadata = ["user": "\(participant)"]
      switch happening.event {
      case .signal(.offer(let sdp)):
        parts.client.sendOffer(sdp, to: participant.text)
      case .signal(.answer(let sdp)):
        parts.client.sendAnswer(sdp, to: participant.text)
      case .signal(.candidate(let trickled)):
        parts.client.sendCandidate(
          trickled.candidate, mid: trickled.mid, index: trickled.mLineIndex, to: participant.text)
      case .stateChanged(let state):
        if state == .connecting {
          _ = parts.roster.begin(participant)
          parts.recorder?.begin(participant, now: .now, wallClock: WallClock.secondsSince1970())
        }
        if state == .connected { parts.roster.connected() }
        // How it ended is told by what follows.
        if state != .closed && state != .failed { log.info("user \(state.rawValue)", metadata: user) }
      case .media(let event):
        parts.recorder?.receive(event, of: participant, now: .now)
      case .keyframeRequested:
        log.debug("keyframe requested", metadata: user)
      case .problem(let sentence):
        log.warning("\(sentence)", metadata: user)
      case .ended(let ending):
        parts.roster.end(participant)
        log.info("call ended", metadata: user.merging(["reason": "\(ending)"]) { $1 })
        parts.recorder?.end(participant, reason: LeaveReason(ending.cause), now: .now)
      }
    }
  }

  /// Feeds the file to the peer. A file that is played once waits for its first viewer.
  private func play(_ source: FileSource, _ parts: Parts) async {
    if !source.loops { await parts.roster.firstConnection() }
    for await frame in await source.frames() { parts.peer.send(frame) }
    // What was sent last is still on its way.
    try? await Task.sleep(for: .milliseconds(300))
  }

  // MARK: The end

  /// Lists what was recorded, and says what could not be.
  private func report(_ roster: Roster) throws(CallFailure) {
    let recordings = roster.recordings
    for summary in recordings { console.result(RecordingReport(summary).text) }
    if let problem = roster.recordingProblem { throw CallFailure(.disk, problem) }
    guard !recordings.isEmpty else {
      throw CallFailure(.nothingRecorded, "Nothing was recorded, because nobody sent media.")
    }
  }
}
