import BotPeer
import LiveSource
import Logging
import Media
import NIOCore
import NIOPosix
import Recorder
import SkyRTC

/// One stay in one room: signalling, peer, recorder and camera joined together. Wiring only; each of them does its own work.
struct Call {
  let options: CallOptions
  let console: Console
  let log: Logger

  /// What the tasks of a call share.
  struct Parts: Sendable {
    let client: SkyRTCClient
    let peer: BotPeer
    let recorder: Recorder?
    let source: (any FrameSource)?
    let loopback: Loopback?
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

  func run() async throws {
    let interruption = Interruption()
    // What can be wrong without a network is found before anybody is disturbed.
    let source = try openSource()
    let recorder = try openRecorder()
    let roster = Roster()
    let peer = try await startPeer(source: source, roster: roster)
    let connection = try await ServerFinder(options: options, console: console, log: log).connect()
    interruption.beginOrderly()
    let loopback = options.loopback ? Loopback(peer: peer, delay: options.delay?.duration ?? .zero) : nil
    let parts = Parts(
      client: connection.client, peer: peer, recorder: recorder, source: source, loopback: loopback, roster: roster)
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
    if let failure = await source?.failure { throw CallFailure(.fileNotPlayable, failure) }
    if recorder != nil { try report(roster) }
  }

  // MARK: Setting up

  private func openSource() throws(CallFailure) -> (any FrameSource)? {
    guard let camera = options.playing.camera else { return nil }
    do {
      let source = try LiveCamera.open(camera, logger: log)
      log.info("camera", metadata: ["content": "\(source.summary)"])
      for remark in source.remarks { log.warning("\(remark)", metadata: ["camera": "\(options.playing.play ?? "")"]) }
      return source
    } catch {
      throw CallFailure(.fileNotPlayable, error.description)
    }
  }

  private func startPeer(source: (any FrameSource)?, roster: Roster) async throws -> BotPeer {
    var configuration = BotPeer.Configuration()
    configuration.bindAddresses = options.bindAddress.map { [$0] } ?? []
    let host = (try? WebSocketURL(options.serverURL))?.host ?? ""
    configuration.includesLoopback = ["localhost", "127.0.0.1", "::1"].contains(host)
    configuration.udpPort = options.udpPort
    configuration.iceServers = options.iceServer
    configuration.sending = options.loopback ? Set(MediaKind.allCases) : source?.kinds ?? []
    // A recorded file cannot make a keyframe; an encoder can, and so can whoever looks into a mirror.
    configuration.keyframeAnswer = options.loopback || source?.isLive == true ? .source : .replay
    configuration.maximumSendBitrate = options.playing.maxBitrate.bitsPerSecond
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
}
