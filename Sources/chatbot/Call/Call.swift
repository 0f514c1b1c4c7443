import BotPeer
import LiveSource
import Logging
import Media
import NIOCore
import NIOPosix
import Recorder
import Signalling
import SkyRTC

/// One stay in one room: signalling, peer, recorder and camera joined together. Wiring only; each of them does its own work.
struct Call {
  let plan: CallPlan
  let console: Console
  let log: Logger
  /// Who looks on, and ends the call; nil for nobody.
  var observer: (any CallObserver)?

  /// What the tasks of a call share.
  struct Parts: Sendable {
    let client: SkyRTCClient
    let peer: Peer
    let recorder: RecorderGroup?
    let source: (any FrameSource)?
    let loopback: Loopback?
    let participantRegistry: ParticipantRegistry
  }

  /// Why a call ended.
  enum EndReason {
    case interrupted
    case timeIsUp
    /// What is played has ended; where somebody looks on, only if it did so before its time.
    case fileEnded
    case signallingEnded
    /// Who looks on has seen enough.
    case enoughSeen
    /// The server never let us in.
    case notAdmitted(String)
  }

  /// Takes part until something ends it.
  ///
  /// - Returns: what is known at the end of who was there and what was recorded.
  @discardableResult
  func run(interruption: Interruption = Interruption()) async throws -> ParticipantRegistry {
    // Each participant may have three files and a socket or two.
    FileDescriptorLimit.allowMany()
    // What can be wrong without a network is found before anybody is disturbed.
    try plan.connectionSettings.check()
    let source = try openSource()
    let recorder = try openRecorder()
    let participantRegistry = ParticipantRegistry()
    let loopback = plan.loopback ? Loopback(delay: plan.delay) : nil
    let peer = try await startPeer(
      source: source, participantRegistry: participantRegistry, handler: handler(recorder: recorder, loopback: loopback)
    )
    loopback?.start(peer)
    defer { loopback?.stop() }
    let connection = try await connect(peer)
    interruption.beginOrderly()
    let parts = Parts(
      client: connection.client, peer: peer, recorder: recorder, source: source, loopback: loopback,
      participantRegistry: participantRegistry)
    log.info("media", metadata: ["addresses": "\(peer.localAddresses.joined(separator: " "))"])

    async let media: Void = followPeer(parts)
    async let summaries: Void = followSummaries(parts)
    async let problems: Void = followProblems(parts)
    let ending = await untilEnd(parts, interruption: interruption)
    observer?.leaving(at: .now, because: ending)
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
      throw CallFailure(.serverNotReached, "\(plan.connectionSettings.server) did not let us in: \(reason)")
    }
    if let failure = await source?.failure { throw CallFailure(.fileNotPlayable, failure) }
    return participantRegistry
  }

  // MARK: Setting up

  /// Reaches the server; without it the peer is of no use.
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
      for remark in source.remarks { log.warning("\(remark)", metadata: ["camera": "\(plan.cameraName)"]) }
      return source
    } catch {
      throw CallFailure(.fileNotPlayable, error.description)
    }
  }

  private func startPeer(
    source: (any FrameSource)?, participantRegistry: ParticipantRegistry,
    handler: @escaping @Sendable (ParticipantEvent) -> Void
  ) async throws -> Peer {
    var configuration = plan.connectionSettings.peerConfiguration
    configuration.handler = handler
    configuration.sending = plan.loopback ? Set(MediaKind.allCases) : source?.kinds ?? []
    // A recorded file cannot make a keyframe; an encoder can, and so can anyone who looks into a mirror.
    configuration.keyframeAnswer = plan.loopback || source?.isLive == true ? .source : .replay
    configuration.maximumSendBitrate = plan.maximumBitrate
    configuration.impairment = plan.impairment
    configuration.fault = plan.fault
    configuration.isPolite = { participantRegistry.isPolite(towards: $0) }
    do {
      return try await Peer.start(
        configuration, on: MediaThread.loop, and: MediaThread.more((plan.connectionSettings.mediaThreads ?? 1) - 1),
        log: log)
    } catch let error as Peer.StartError {
      throw CallFailure(.usage, error.description)
    }
  }

  // MARK: While it lasts

  /// Runs everything that may end the call, and says what did.
  private func untilEnd(_ parts: Parts, interruption: Interruption) async -> EndReason {
    await withTaskGroup(of: EndReason?.self) { group in
      group.addTask {
        await interruption.first()
        return .interrupted
      }
      group.addTask {
        let ending = await followSignalling(parts)
        return Task.isCancelled ? nil : ending
      }
      if let duration = plan.duration {
        group.addTask {
          try? await MediaThread.loop.sleep(for: duration)
          return Task.isCancelled ? nil : .timeIsUp
        }
      }
      if let source = parts.source {
        group.addTask {
          await play(source, parts)
          // Anyone who looks on says when enough was seen; a file that ends as it should has nothing to do with that.
          if observer != nil, await source.failure == nil { return nil }
          return Task.isCancelled ? nil : .fileEnded
        }
      }
      for recorder in parts.recorder?.recorders ?? [] {
        group.addTask {
          for await participant in recorder.keyframeRequests { parts.peer.requestKeyframe(of: participant) }
          return nil
        }
      }
      if let observer {
        group.addTask {
          await observer.watch(parts.peer)
          return Task.isCancelled ? nil : .enoughSeen
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

/// Somebody who looks on in a call, and says when it has seen enough. Called in the order in which things happen, from several
/// threads; it must not keep anybody waiting.
protocol CallObserver: Sendable {
  /// The server said something.
  func heard(_ event: SignallingEvent, at now: ContinuousClock.Instant)
  /// Something happened with a participant.
  func happened(_ event: PeerEvent, with participant: ParticipantID, at now: ContinuousClock.Instant)
  /// A frame was handed out for everybody.
  func sent(_ frame: EncodedFrame, at now: ContinuousClock.Instant)
  /// The call is over; what follows is our own leaving.
  func leaving(at now: ContinuousClock.Instant, because ending: Call.EndReason)
  /// Follows the call's counts until enough has been seen.
  func watch(_ peer: Peer) async
}
