/// A parser, or a family of parsers, that reads untrusted bytes.
public enum FuzzTarget: String, CaseIterable, Sendable {
  case stun
  case candidate
  case description
  case rtp
  case rtcp
  case sctp
  case dataChannel
  case dataMessage
  case turn
  case streamFrame
  case vp8
  case vp9
  case vp9Frame
  case h264
  case sps
  case pps
  case sliceHeader
  case avcC
  case h265
  case h265ParameterSets
  case h265SliceHeader
  case hvcC
  case av1
  case av1Unit
  case av1Sequence
  case av1C
  case pictureOrder
  case dependencyDescriptor
  case red
  case opus
  case mediaMessage
  case skyrtc
  case janus
  case exec
  case socketIO
  case firestore
  case whipFormat
  case whipServer
  case whipSession
  case httpURL
  case webSocket
  case httpUpgrade
  case webm
  case ogg
  case ivf
  case y4m
  case wav
  case repair
  case manifest
  case rules
  case baseline
  case jobJournal
  case jobControl
  case jobSpecification
  case serviceConfiguration
  case serviceRequest
  case webhook
  case storedRecording
  case s3
  case layoutFile
  case compositionPlan

  /// Runs the target on an input. It must return for any input.
  ///
  /// - Throws: The invariant of the parsers that the input violates.
  public func run(_ input: [UInt8]) throws(InvariantViolation) {
    switch self {
    case .stun: try ConnectivityTargets.stun(input)
    case .candidate: try ConnectivityTargets.candidate(input)
    case .description: try DescriptionTarget.run(input)
    case .rtp: try PacketTargets.rtp(input)
    case .rtcp: try PacketTargets.rtcp(input)
    case .sctp: try SCTPTarget.packets(input)
    case .dataChannel: try SCTPTarget.dataChannels(input)
    case .dataMessage: try DataMessageTarget.run(input)
    case .turn: try TURNTarget.run(input)
    case .streamFrame: try ConnectivityTargets.streamFrames(input)
    case .vp8: try PayloadTargets.vp8(input)
    case .vp9: try VP9Targets.packets(input)
    case .vp9Frame: try VP9Targets.frames(input)
    case .h264: try H264Targets.packets(input)
    case .sps: try H264Targets.sequenceParameterSet(input)
    case .pps: try H264Targets.pictureParameterSets(input)
    case .sliceHeader: try H264Targets.sliceHeaders(input)
    case .avcC: try H264Targets.configuration(input)
    case .h265: try H265Targets.packets(input)
    case .h265ParameterSets: try H265Targets.parameterSets(input)
    case .h265SliceHeader: try H265Targets.sliceHeaders(input)
    case .hvcC: try H265Targets.configuration(input)
    case .av1: try AV1Targets.packets(input)
    case .av1Unit: try AV1Targets.temporalUnits(input)
    case .av1Sequence: try AV1Targets.sequenceHeader(input)
    case .av1C: try AV1Targets.configuration(input)
    case .pictureOrder: try PictureOrderTarget.run(input)
    case .dependencyDescriptor: try DescriptorTargets.dependencies(input)
    case .red: try DescriptorTargets.redundantAudio(input)
    case .opus: try PayloadTargets.opus(input)
    case .mediaMessage: try MediaMessageTarget.run(input)
    case .skyrtc: try SignallingTargets.skyrtc(input)
    case .janus: try JanusTarget.run(input)
    case .exec: try ExecTarget.run(input)
    case .socketIO: try SocketIOTarget.run(input)
    case .firestore: try FirestoreTarget.run(input)
    case .whipFormat: try WHIPFormatTarget.run(input)
    case .whipServer: try WHIPServerTarget.run(input)
    case .whipSession: try WHIPSessionTarget.run(input)
    case .httpURL: try HTTPURLTarget.run(input)
    case .webSocket: try WebSocketTargets.frames(input)
    case .httpUpgrade: try WebSocketTargets.upgrade(input)
    case .webm, .ogg, .ivf: try FileTargets.container(input)
    case .y4m: try FileTargets.plain(input)
    case .wav: try FileTargets.wave(input)
    case .repair: try RepairTargets.media(input)
    case .manifest: try RepairTargets.manifest(input)
    case .rules: try RuleTargets.rules(input)
    case .baseline: try RuleTargets.baseline(input)
    case .jobJournal: try JobTargets.journal(input)
    case .jobControl: try JobTargets.control(input)
    case .jobSpecification: try JobTargets.specification(input)
    case .serviceConfiguration: try ServiceTargets.configuration(input)
    case .serviceRequest: try ServiceTargets.request(input)
    case .webhook: try WebhookTarget.run(input)
    case .storedRecording: try StoredRecordingTarget.run(input)
    case .s3: try S3Target.run(input)
    case .layoutFile: try LayoutFileTarget.run(input)
    case .compositionPlan: try CompositionPlanTarget.run(input)
    }
  }

  /// The size of the largest useful input, in bytes.
  public var largestInput: Int {
    switch self {
    case .stun, .rtp, .rtcp, .opus, .red, .sps: 1_500
    case .candidate, .rules, .dependencyDescriptor, .pps, .sliceHeader, .h265ParameterSets, .h265SliceHeader: 2_048
    case .mediaMessage: 600
    case .vp8, .vp9, .vp9Frame, .h264, .avcC, .h265, .hvcC, .av1, .av1Unit: 6_000
    case .av1Sequence, .av1C, .pictureOrder: 1_200
    case .skyrtc, .webSocket, .httpUpgrade, .manifest, .wav: 8_192
    case .socketIO, .dataChannel, .dataMessage, .turn, .streamFrame: 4_096
    case .sctp, .janus, .exec, .firestore, .whipFormat, .whipServer, .whipSession, .httpURL, .storedRecording: 8_192
    case .jobJournal, .jobControl, .jobSpecification: 3_000
    case .serviceConfiguration, .serviceRequest, .webhook, .s3: 3_000
    case .layoutFile: 3_000
    case .compositionPlan: 12_000
    case .description, .ivf, .y4m, .ogg, .baseline: 16_384
    case .webm, .repair: 32_768
    }
  }
}

/// A violated invariant of a parser: something that must be true for any input.
public struct InvariantViolation: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Throws if an invariant is violated.
func require(_ isTrue: Bool, _ sentence: @autoclosure () -> String) throws(InvariantViolation) {
  if !isTrue { throw InvariantViolation(sentence()) }
}
