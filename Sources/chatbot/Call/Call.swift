import BotPeer
import FaultInjection
import LiveSource
import Logging
import Media
import NIOCore
import NIOPosix
import NetworkEmulation
import Recorder
import Room
import RoomMessages
import Signalling
import SkyRTC

/// One stay in one room: connects signalling, peer, recorder and camera. Wiring only; each of them does its own work.
struct Call {
  let plan: CallPlan
  let console: Console
  let log: Logger
  /// Observes the call and may end it; nil if no observer is needed.
  var observer: (any CallObserver)?

  /// The parts that a call's tasks share.
  struct Parts: Sendable {
    let session: RoomSession
    let recorder: RecorderGroup?
    let source: (any FrameSource)?
    let loopback: Loopback?
    let participantRegistry: ParticipantRegistry
    let messages: RoomMessages
  }

  /// Why a call ended.
  enum EndReason: CustomStringConvertible {
    case interrupted
    case timeIsUp
    /// The source ended; with an observer, only if it failed.
    case fileEnded
    case signallingEnded
    /// The signalling ended the call for good.
    case signallingClosed(String)
    /// The observer has all it needs.
    case observerFinished
    /// The server refused the join.
    case notAdmitted(String)
    /// The server rejects what we were asked to do; one sentence.
    case rejected(String)

    init(_ reason: RoomEndReason) {
      self =
        switch reason {
        case .left: .signallingEnded
        case .notAdmitted(let reason): .notAdmitted(reason)
        case .rejected(let reason): .rejected(reason)
        case .closed(let reason): .signallingClosed(reason)
        }
    }

    /// The reason as a clause, for the log.
    var description: String {
      switch self {
      case .interrupted: "a signal arrived"
      case .timeIsUp: "the duration has passed"
      case .fileEnded: "the input ended"
      case .signallingEnded: "the connection to the server was closed"
      case .signallingClosed(let reason), .rejected(let reason): reason
      case .observerFinished: "the check has ended"
      case .notAdmitted(let reason): "the server refused the join: \(reason)"
      }
    }
  }

  /// Joins the room and stays until something ends the call.
  ///
  /// - Returns: The registry with the participants and recordings of the call.
  @discardableResult
  func run(interruption: Interruption = Interruption()) async throws -> ParticipantRegistry {
    // Each participant may need three files and one or two sockets.
    FileDescriptorLimit.allowMany()
    // Find errors that need no network before joining, so that no participant notices them.
    try plan.connectionSettings.check()
    let source = try openSource()
    let recorder = try openRecorder()
    let participantRegistry = ParticipantRegistry()
    let loopback = plan.loopback ? Loopback(delay: plan.delay) : nil
    let chat = try openChat(recorder: recorder, participantRegistry: participantRegistry)
    let messages = try openMessages(chat: chat, participantRegistry: participantRegistry)
    let peer = try await startPeer(
      source: source, participantRegistry: participantRegistry,
      mediaSinks: mediaSinks(recorder: recorder, loopback: loopback),
      handler: handler(recorder: recorder, participantRegistry: participantRegistry))
    loopback?.start(peer)
    defer { loopback?.stop() }
    let connection = try await connect(peer)
    interruption.beginOrderly()
    // The last messages and frames are still sent when the signalling has ended.
    var policy = RoomPolicy()
    policy.closesPeer = false
    let parts = Parts(
      session: RoomSession(client: connection.client, peer: peer, policy: policy), recorder: recorder, source: source,
      loopback: loopback, participantRegistry: participantRegistry, messages: messages)
    log.info("media", metadata: ["addresses": "\(peer.localAddresses.joined(separator: " "))"])

    async let session: Void = runSession(parts)
    async let summaries: Void = registerRecordings(parts, chat: chat)
    async let problems: Void = logProblems(parts)
    async let channels: Void = serveDataChannels(parts)
    let chatWriting = Task { await chat?.run() }
    let ending = await untilEnd(parts, interruption: interruption)
    observer?.leaving(at: .now, because: ending)
    log.info("leaving", metadata: ["reason": "\(ending)"])
    await messages.finish(within: plan.messages == MessagePlan() && plan.sayFile == nil ? .zero : .seconds(2))
    await peer.close(reason: "The bot left the room.")
    await session
    await recorder?.finish(now: .now)
    await summaries
    await problems
    await channels
    chatWriting.cancel()
    await chatWriting.value
    await connection.embedded?.shutdown()
    console.clearStatus()
    if case .notAdmitted(let reason) = ending {
      throw CallFailure(.serverNotReached, "\(plan.connectionSettings.server) refused the join: \(reason)")
    }
    if case .signallingClosed(let reason) = ending, observer == nil, !participantRegistry.hasConnected {
      throw CallFailure(.serverNotReached, reason)
    }
    if case .rejected(let reason) = ending { participantRegistry.failed(CallFailure(.serverNotReached, reason)) }
    if let failure = await source?.failure { throw CallFailure(.fileNotPlayable, failure) }
    return participantRegistry
  }

  // MARK: Setting up

  /// Connects to the server, and closes the peer if that fails.
  private func connect(_ peer: Peer) async throws -> ServerConnector.Connection {
    do {
      return try await ServerConnector(plan: plan, console: console, log: log).connect()
    } catch {
      await peer.close(reason: "The server was not reached.")
      throw error
    }
  }

  private func openSource() throws(CallFailure) -> (any FrameSource)? {
    guard let camera = plan.camera else { return nil }
    do {
      let source = try LiveCamera.open(camera, logger: log)
      log.info("camera", metadata: ["content": "\(source.summary)"])
      for note in source.notes { log.warning("\(note)", metadata: ["camera": "\(plan.cameraName)"]) }
      return source
    } catch {
      throw CallFailure(.fileNotPlayable, error.description)
    }
  }

  private func startPeer(
    source: (any FrameSource)?, participantRegistry: ParticipantRegistry, mediaSinks: [any MediaSink],
    handler: @escaping @Sendable (ParticipantEvent) -> Void
  ) async throws -> Peer {
    var configuration = try plan.connectionSettings.peerConfiguration()
    configuration.mediaSinks = mediaSinks
    configuration.handler = handler
    configuration.sending = plan.loopback ? Set(MediaKind.allCases) : source?.kinds ?? []
    configuration.sendsInEverySection = plan.loopback
    // A recorded file cannot produce a keyframe. An encoder can, and so can the user whose media is looped back.
    configuration.keyframeResponse = plan.loopback || source?.isLive == true ? .requestFromSource : .replay
    // Otherwise the first audio would return late, and out of sync with the video, which begins with a keyframe.
    if plan.loopback { configuration.initialReorderingDelay = .milliseconds(40) }
    configuration.dataChannels = plan.connectionSettings.dataChannels
    configuration.maximumSendBitrate = plan.maximumBitrate
    configuration.network = plan.impairment.map { .emulating($0) }
    configuration.interceptors = plan.fault.map { [.injecting($0)] } ?? []
    do {
      return try await Peer.start(
        configuration, on: MediaThread.loop, and: MediaThread.more((plan.connectionSettings.mediaThreads ?? 1) - 1),
        log: log)
    } catch let error as Peer.StartError {
      throw CallFailure(.usage, error.description)
    }
  }

  // MARK: Running

  /// Runs all tasks that may end the call, and returns the first reason.
  private func untilEnd(_ parts: Parts, interruption: Interruption) async -> EndReason {
    await withTaskGroup(of: EndReason?.self) { group in
      group.addTask {
        await interruption.first()
        return .interrupted
      }
      group.addTask {
        await parts.participantRegistry.signallingEnd().map { EndReason($0) }
      }
      if let duration = plan.duration {
        group.addTask {
          try? await MediaThread.loop.sleep(for: duration)
          return Task.isCancelled ? nil : .timeIsUp
        }
      }
      group.addTask {
        await parts.participantRegistry.firstRejection().map { EndReason.rejected($0) }
      }
      if let source = parts.source {
        group.addTask {
          await play(source, parts)
          // An observer decides itself when the call ends; a source that ends normally does not end it.
          if observer != nil, await source.failure == nil { return nil }
          return Task.isCancelled ? nil : .fileEnded
        }
      }
      for recorder in parts.recorder?.recorders ?? [] {
        group.addTask {
          for await track in recorder.keyframeRequests { parts.session.peer.requestKeyframe(of: track.participant) }
          return nil
        }
      }
      if let observer {
        group.addTask {
          await observer.watch(parts.session.peer)
          return Task.isCancelled ? nil : .observerFinished
        }
      } else if console.isTerminal {
        group.addTask {
          await StatusTask(parts: parts, console: console, room: plan.connectionSettings.roomName).run()
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
}

/// Observes a call and decides when it ends. Methods are called in the order of events, from several threads, and must
/// not block.
protocol CallObserver: MediaSink {
  /// The server sent an event.
  func received(_ event: SignallingEvent, at now: ContinuousClock.Instant)
  /// A participant's connection reported an event. Media comes to the observer as to a `MediaSink`.
  func received(_ event: PeerEvent, of participant: ParticipantID, at now: ContinuousClock.Instant)
  /// A frame was sent to all participants.
  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant)
  /// A chat message was received from a user or sent to one.
  ///
  /// - Parameter sender: the id of the user who sent it, or our own.
  func exchanged(_ message: ExchangedMessage, from sender: String, at now: ContinuousClock.Instant)
  /// The call is over; what follows is our own leaving.
  func leaving(at now: ContinuousClock.Instant, because ending: Call.EndReason)
  /// Samples the call's statistics and returns when the observer has all it needs.
  func watch(_ peer: Peer) async
}
