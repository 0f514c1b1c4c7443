// swift-tools-version: 6.2

import PackageDescription

/// The rules for every Swift target: Swift 6 mode, nothing imported by accident, warnings are errors.
let rules: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

/// Tests are compiled without optimisation, which takes a third of the time and changes nothing that they show. What they test
/// is optimised, and so are the libraries that they use.
let testRules: [SwiftSetting] = rules + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// All that the pure modules may take from SwiftNIO: `ByteBuffer`.
let byteBuffer: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let sockets: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let http: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let webSocket: Target.Dependency = .product(name: "NIOWebSocket", package: "swift-nio")
let tlsEvents: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let embedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let coreMetrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let httpServer: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let httpServerTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let yaml: Target.Dependency = .product(name: "Yams", package: "Yams")

func module(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: rules)
}

func tests(of name: String, _ dependencies: [Target.Dependency], resources: [Resource]? = nil) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.target(name: name), "TestSupport"] + dependencies,
    resources: resources, swiftSettings: testRules)
}

func example(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: ["BotPeer", "Media", "Room", "Signalling", "SkyRTC", sockets] + dependencies,
    path: "Examples/\(name)", swiftSettings: rules)
}

/// A C library from Debian; one without `pkgConfig` names what is to be linked in its module map.
func debian(_ name: String, pkgConfig: String? = nil, package: String...) -> Target {
  .systemLibrary(name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt(package)])
}

let package = Package(
  name: "chatbot",
  products: [
    .library(name: "BotPeer", targets: ["BotPeer"]),
    .library(name: "Room", targets: ["Room"]),
    .library(name: "Call", targets: ["Call"]),
    .library(name: "Load", targets: ["Load"]),
    .library(name: "RoomServer", targets: ["RoomServer"]),
    .library(name: "Recorder", targets: ["Recorder"]),
    .library(name: "NetworkEmulation", targets: ["NetworkEmulation"]),
    .library(name: "FaultInjection", targets: ["FaultInjection"]),
    .library(name: "FileSource", targets: ["FileSource"]),
    .library(name: "LiveSource", targets: ["LiveSource"]),
    .library(name: "CallCheck", targets: ["CallCheck", "CallReport"]),
    .library(name: "Inspection", targets: ["Inspection"]),
    .library(name: "Signalling", targets: ["Signalling"]),
    .library(name: "SkyRTC", targets: ["SkyRTC", "HTTPTransport"]),
    .library(name: "SocketIO", targets: ["SocketIO"]),
    .library(name: "Firestore", targets: ["Firestore"]),
    .library(name: "WHIP", targets: ["WHIP"]),
    .library(name: "Janus", targets: ["Janus"]),
    .library(name: "ExecSignalling", targets: ["ExecSignalling"]),
    .library(name: "Media", targets: ["Media"]),
    .executable(name: "chatbot", targets: ["chatbot"]),
    .executable(name: "chatbot-media", targets: ["chatbot-media"]),
    .executable(name: "chatbot-service", targets: ["chatbot-service"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // C libraries, from Debian.
    debian("COpus", pkgConfig: "opus", package: "libopus-dev"),
    debian("CVPX", pkgConfig: "vpx", package: "libvpx-dev"),
    debian("COgg", pkgConfig: "ogg", package: "libogg-dev"),
    debian("CSRTP", pkgConfig: "libsrtp2", package: "libsrtp2-dev"),
    debian("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
    debian("CYUV", package: "libyuv-dev"),
    debian(
      "CFFmpeg", pkgConfig: "libavcodec",
      package: "libavcodec-dev", "libavformat-dev", "libavutil-dev", "libswresample-dev", "libswscale-dev"),
    debian("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    debian("CPostgreSQL", pkgConfig: "libpq", package: "libpq-dev"),
    .target(name: "CMediaProgram", dependencies: ["CFFmpeg"], path: "Sources/CLibraries/CMediaProgram"),
    .target(name: "CMediaSockets", path: "Sources/CLibraries/CMediaSockets"),
    .target(name: "CDatagrams", path: "Sources/CLibraries/CDatagrams"),
    .target(name: "CThreads", path: "Sources/CLibraries/CThreads"),
    .target(name: "CFiles", path: "Sources/CLibraries/CFiles"),
    .target(name: "CPango", path: "Sources/CLibraries/CPango"),
    .target(name: "CProcesses", path: "Sources/CLibraries/CProcesses"),
    .target(name: "CChecksums", path: "Sources/CLibraries/CChecksums"),
    .target(name: "CWebM", path: "Sources/CLibraries/CWebM", linkerSettings: [.linkedLibrary("webm")]),

    // Pure: bytes, calls and `now` in; values out.
    module("Bitstream", [byteBuffer]),
    module("Media", ["Bitstream", "CThreads", byteBuffer]),
    module("MediaMessages", []),
    module("JSON", ["Media"]),
    module("Signalling", ["Media"]),
    module("RTP", ["Bitstream", byteBuffer]),
    module("SDP", ["Media"]),
    module("ICE", ["Media", "COpenSSL", byteBuffer]),
    module("SCTP", ["Bitstream", "Media", "CChecksums", byteBuffer]),
    module("DataMessages", ["JSON", "Media", "COpenSSL", byteBuffer]),
    module(
      "PeerEngine",
      [
        "Bitstream", "Media", "Signalling", "RTP", "SDP", "ICE", "SCTP", "COpenSSL", "CSRTP", byteBuffer,
      ]),
    module("OptionValues", ["Media"]),
    module("CommandSettings", ["JSON", "Media"]),
    module("NetworkEmulation", ["Media", "PeerEngine", "RTP", byteBuffer]),
    module("FaultInjection", ["Media", "PeerEngine", "Signalling", byteBuffer]),

    // The edge: sockets, files, codecs.
    module("LocalInterfaces", []),
    module("TLS", ["Media", "COpenSSL", byteBuffer, tlsEvents]),
    module(
      "HTTPTransport",
      ["LocalInterfaces", "Media", "Signalling", "TLS", byteBuffer, sockets, http, webSocket, tlsEvents]),
    module("SignallingAdapters", ["Media", "Signalling", "HTTPTransport", logging]),
    module(
      "SkyRTC",
      [
        "JSON", "Media", "Signalling", "SignallingAdapters", "HTTPTransport", "TLS", "COpenSSL", byteBuffer, sockets,
        http,
        webSocket, logging,
      ],
      resources: [.embedInCode("Page")]),
    module(
      "SocketIO",
      ["JSON", "Media", "Signalling", "SignallingAdapters", "HTTPTransport", byteBuffer, sockets, http, logging]),
    module(
      "Firestore",
      [
        "JSON", "Media", "Signalling", "SignallingAdapters", "HTTPTransport", "COpenSSL", byteBuffer, sockets, http,
        logging,
      ]),
    module(
      "WHIP",
      ["Media", "Signalling", "SignallingAdapters", "HTTPTransport", "COpenSSL", byteBuffer, sockets, http, logging],
      resources: [.embedInCode("Page")]),
    module(
      "Janus",
      [
        "JSON", "Media", "SDP", "Signalling", "SignallingAdapters", "HTTPTransport", byteBuffer, sockets, http, logging,
      ]),
    module("Processes", ["Media", "Signalling", "CProcesses", byteBuffer, sockets]),
    module(
      "ExecSignalling",
      [
        "JSON", "Media", "Processes", "Signalling", "SignallingAdapters", byteBuffer, sockets, logging,
      ]),
    module("MediaWorker", ["CMediaSockets", "Media", "MediaMessages", byteBuffer]),
    module("Codecs", ["Bitstream", "Media", "MediaMessages", "MediaWorker", "COpus", "CVPX", "CYUV", byteBuffer]),
    module("Pattern", ["Media", "Codecs"]),
    module(
      "CallCheck",
      ["Bitstream", "Media", "MediaWorker", "Codecs", "Pattern", "PeerEngine", "Signalling", byteBuffer]),
    module("CallReport", ["CallCheck", "Codecs", "Media", "COpenSSL"], resources: [.embedInCode("HTML/Page")]),
    module(
      "BotPeer",
      [
        "PeerEngine", "LocalInterfaces", "Media", "Signalling", "RTP", "ICE", "SCTP", "TLS", "CDatagrams", "COpenSSL",
        byteBuffer, sockets, tlsEvents, logging,
      ]),
    module("Room", ["BotPeer", "Media", "Signalling"]),
    module("Load", ["BotPeer", "Room", "CallCheck", "Media", "Signalling", byteBuffer, logging]),
    module(
      "RoomServer",
      [
        "BotPeer", "HTTPTransport", "Media", "PeerEngine", "Room", "SDP", "Signalling", "SkyRTC", "WHIP", byteBuffer,
        sockets, http, logging,
      ]),
    module(
      "Call",
      [
        "BotPeer", "CallCheck", "CallReport", "Load", "Media", "Processes", "Recorder", "Room", "RoomMessages",
        "Signalling", byteBuffer, sockets, logging,
      ]),
    module("RoomMessages", ["BotPeer", "DataMessages", "Media", "Recorder", byteBuffer, logging]),
    module(
      "Recorder",
      ["Bitstream", "CThreads", "Media", "MediaWorker", "Codecs", "CFiles", "COgg", byteBuffer, sockets, logging]),
    module(
      "FileSource",
      ["Bitstream", "Media", "MediaMessages", "MediaWorker", "CWebM", "COgg", byteBuffer, logging]),
    module("Inspection", ["JSON", "Media", "Recorder", "FileSource", "CallCheck", "CallReport", byteBuffer]),
    // Compositions: one file of a whole call.
    module("Composition", ["FileSource", "Inspection", "JSON", "Media", "OptionValues", "Recorder"]),
    module("TextDrawing", ["CPango", "Media"]),
    module(
      "Composer",
      [
        "Bitstream", "CChecksums", "CFiles", "CThreads", "CYUV", "Codecs", "Composition", "FileSource", "Inspection",
        "JSON", "Media",
        "MediaMessages", "MediaWorker", "Recorder", "TextDrawing", byteBuffer, logging,
      ]),
    module(
      "LiveSource",
      [
        "Media", "MediaMessages", "MediaWorker", "Codecs", "Pattern", "FileSource", "CYUV", byteBuffer, logging,
      ]),
    module("Console", ["Media", "PeerEngine", "Signalling", logging]),
    module(
      "MetricsEndpoint",
      [
        "BotPeer", "Call", "JobProcess", "JobProtocol", "Media", "OptionValues", "PrometheusText", "Recorder",
        "RoomServer", "Signalling", coreMetrics, byteBuffer, sockets, http,
      ]),
    .executableTarget(
      name: "chatbot",
      dependencies: [
        "Bitstream", "BotPeer", "Console", "Composer", "Composition", "Processes", "Recorder", "Inspection",
        "LiveSource", "Call", "CallCheck", "CallReport",
        "Room",
        "Load",
        "RoomMessages", "RoomServer", "Signalling", "SignallingAdapters", "SkyRTC", "SocketIO", "Firestore", "WHIP",
        "Janus", "ExecSignalling", "HTTPTransport", "DataMessages", "Codecs", "Media", "NetworkEmulation",
        "FaultInjection", "JobProcess", "JobProtocol", "MetricsEndpoint", "OptionValues", "CommandSettings", byteBuffer,
        sockets, logging, arguments,
      ],
      swiftSettings: rules),

    // Jobs: one process for each, which a service supervises. The service links no WebRTC module.
    module("JobProtocol", ["JSON", "Media", "OptionValues"]),
    module(
      "JobProcess",
      [
        "BotPeer", "Call", "CThreads", "Codecs", "Console", "DataMessages", "JobProtocol", "JSON", "Media",
        "MediaWorker",
        "OptionValues", "Recorder", "Signalling", byteBuffer, sockets, logging,
      ]),
    module("SQLStore", ["CPostgreSQL", "CSQLite", "CThreads", "JSON", "JobProtocol", "Media", "OptionValues"]),
    module("ObjectStore", ["COpenSSL", "JSON", "JobProtocol", "Media"]),
    module("S3", ["COpenSSL", "JSON", "Media", "ObjectStore", "OptionValues", byteBuffer, http, httpClient, logging]),
    module(
      "Webhooks", ["COpenSSL", "JSON", "LocalInterfaces", "Media", byteBuffer, sockets, http, httpClient, logging]),
    module("PrometheusText", [coreMetrics]),
    module(
      "Service",
      [
        "CFiles", "CProcesses", "COpenSSL", "JobProtocol", "JSON", "Media", "ObjectStore", "OptionValues",
        "PrometheusText", "S3", "SQLStore", "Webhooks", byteBuffer, sockets, http, logging, metrics, lifecycle,
        httpServer, httpServerTLS, httpClient, yaml,
      ],
      resources: [.embedInCode("Page"), .embedInCode("OpenAPI")]),
    .executableTarget(
      name: "chatbot-service",
      dependencies: [
        "CommandSettings", "JobProtocol", "JSON", "Media", "ObjectStore", "S3", "Service", "OptionValues", byteBuffer,
        logging, lifecycle, arguments,
      ],
      swiftSettings: rules),

    // The only program that links FFmpeg.
    .executableTarget(
      name: "chatbot-media", dependencies: ["CFFmpeg", "CMediaProgram", "CMediaSockets", "CVPX", "MediaMessages"],
      swiftSettings: rules),

    .executableTarget(
      name: "call-instructions",
      dependencies: ["ICE", "Media", "PeerEngine", "RTP", "Recorder", "Signalling", byteBuffer],
      path: "Benchmarks/Instructions", swiftSettings: rules),
    .executableTarget(
      name: "record-call", dependencies: ["RecordedCalls"], path: "Benchmarks/Compositions", swiftSettings: rules),
    .executableTarget(
      name: "upload-speed", dependencies: ["ObjectStore", "S3", logging], path: "Benchmarks/Uploads",
      exclude: ["sink.py"], swiftSettings: rules),
    // Programs that use the libraries as other packages do.
    .executableTarget(
      name: "RecordCall", dependencies: ["Call", "Recorder", "SkyRTC"], path: "Examples/RecordCall",
      exclude: ["Package.swift"],
      swiftSettings: rules),
    example("RecordRoom", ["Recorder"]),
    example("FakeCamera", ["FileSource"]),
    example("EchoBot", []),
    example("FolderCall", ["FileSource"]),
    .testTarget(
      name: "CheckInATest", dependencies: ["CallCheck"], path: "Examples/CheckInATest", swiftSettings: testRules),

    .target(name: "MachineStalls", path: "Tests/MachineStalls", swiftSettings: rules),
    .executableTarget(
      name: "stall-meter", dependencies: ["MachineStalls"], path: "Tests/StallMeter", swiftSettings: rules),
    .target(
      name: "TestSupport", dependencies: ["MachineStalls", "Media", byteBuffer, sockets], path: "Tests/TestSupport",
      swiftSettings: rules),
    .target(
      name: "PeerEngineTestSupport",
      dependencies: ["TestSupport", "NetworkEmulation", "PeerEngine", "Media", "Signalling", "RTP", "ICE", byteBuffer],
      path: "Tests/PeerEngineTestSupport", swiftSettings: rules),
    .target(
      name: "CallCheckTestSupport",
      dependencies: ["TestSupport", "CallCheck", "CallReport", "Media", "Codecs", "Pattern", byteBuffer],
      path: "Tests/CallCheckTestSupport", swiftSettings: rules),
    .target(
      name: "InspectionTestSupport",
      dependencies: ["Inspection", "CallCheck", "Codecs", "Media", "Recorder", byteBuffer],
      path: "Tests/InspectionTestSupport", swiftSettings: rules),
    .target(
      name: "RecordedCalls",
      dependencies: ["Codecs", "Media", "MediaMessages", "MediaWorker", "Pattern", "Recorder", byteBuffer],
      path: "Tests/RecordedCalls", swiftSettings: rules),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Bitstream", "BotPeer", "CallCheck", "Codecs", "FileSource", "ICE", "LiveSource", "Media", "PeerEngine", "RTP",
        "Recorder", "SCTP", "SDP", "Signalling", "SkyRTC", "HTTPTransport", "Janus", "SocketIO", "Firestore", "WHIP",
        "Composition", "Inspection", "ExecSignalling", "JobProtocol", "JSON", "MediaMessages", "ObjectStore",
        "Processes", "DataMessages",
        "S3", "SQLStore", "Service", "Webhooks", byteBuffer, embedded, http, webSocket, logging,
      ],
      path: "Tests/Fuzz/Targets", swiftSettings: rules),
    tests(of: "MachineStalls", []),
    tests(of: "Bitstream", ["COpus", byteBuffer], resources: [.copy("Fixtures")]),
    tests(of: "Media", [byteBuffer]),
    tests(of: "JSON", ["Media"]),
    tests(of: "OptionValues", ["Media"]),
    tests(of: "CommandSettings", []),
    tests(of: "RTP", ["Bitstream", byteBuffer], resources: [.copy("Fixtures")]),
    tests(of: "SDP", ["Media"], resources: [.copy("Fixtures")]),
    tests(of: "ICE", ["Media", byteBuffer]),
    tests(of: "SCTP", ["Bitstream", "CChecksums", "Media", "NetworkEmulation", byteBuffer]),
    tests(of: "DataMessages", ["Media", byteBuffer]),
    tests(of: "Signalling", ["Media"]),
    tests(of: "TLS", ["COpenSSL", byteBuffer, embedded, tlsEvents]),
    tests(
      of: "HTTPTransport",
      [
        "LocalInterfaces", "Media", "SkyRTC", "Signalling", "TLS", byteBuffer, embedded, sockets, http, webSocket,
        tlsEvents, logging,
      ]),
    tests(
      of: "SkyRTC",
      ["Media", "Signalling", "HTTPTransport", "TLS", byteBuffer, sockets, http, webSocket, tlsEvents, logging],
      resources: [.copy("Fixtures")]),
    tests(of: "Firestore", ["Media", "Signalling", "HTTPTransport", byteBuffer, sockets, http, logging]),
    tests(of: "Processes", ["Media", byteBuffer, sockets]),
    tests(of: "ExecSignalling", ["HTTPTransport", "Media", "Processes", "Signalling", byteBuffer, sockets, logging]),
    tests(
      of: "Janus", ["Media", "Signalling", "HTTPTransport", byteBuffer, sockets, http, logging],
      resources: [.copy("Fixtures")]),
    tests(
      of: "SocketIO", ["JSON", "Media", "Signalling", "HTTPTransport", byteBuffer, sockets, http, webSocket, logging]),
    tests(
      of: "WHIP", ["ICE", "Media", "PeerEngine", "Signalling", "HTTPTransport", byteBuffer, sockets, http, logging]),
    tests(
      of: "MediaWorker", ["Codecs", "Media", "MediaMessages", "Recorder", "chatbot-media", byteBuffer],
      resources: [.copy("Fixtures")]),
    tests(of: "Codecs", ["Bitstream", "Media", "MediaWorker", "chatbot-media", byteBuffer]),
    tests(of: "NetworkEmulation", ["ICE", "Media", "PeerEngine", byteBuffer]),
    tests(
      of: "PeerEngine",
      [
        "PeerEngineTestSupport", "NetworkEmulation", "Bitstream", "Media", "Signalling", "RTP", "SDP", "ICE", "SCTP",
        "COpenSSL", byteBuffer,
      ],
      resources: [.copy("Fixtures")]),
    tests(of: "Room", ["BotPeer", "Media", "Signalling"]),
    tests(
      of: "Load",
      ["BotPeer", "CallCheck", "Media", "Signalling", byteBuffer, sockets, logging]),
    tests(
      of: "Call",
      [
        "BotPeer", "CallCheck", "Codecs", "InspectionTestSupport", "LiveSource", "Media", "Recorder", "Signalling",
        "SkyRTC",
        byteBuffer, sockets, logging,
      ]),
    tests(
      of: "RoomMessages",
      ["BotPeer", "DataMessages", "Media", "PeerEngine", "Recorder", "SCTP", byteBuffer, sockets, logging]),
    tests(of: "RoomServer", ["BotPeer", "Media", "PeerEngine", "Signalling", "SkyRTC", "WHIP", byteBuffer, sockets]),
    tests(of: "FaultInjection", ["PeerEngineTestSupport", "PeerEngine", "Media", "Signalling", "RTP", byteBuffer]),
    tests(
      of: "BotPeer",
      [
        "PeerEngineTestSupport", "NetworkEmulation", "FaultInjection", "Media", "Signalling", "ICE", "SCTP", "SkyRTC",
        "SocketIO", "Firestore", "WHIP", "Janus", "HTTPTransport", byteBuffer, embedded, sockets, http, logging,
      ]),
    tests(
      of: "Recorder",
      [
        "Bitstream", "Media", "Codecs", "CWebM", "NetworkEmulation", "Pattern", "PeerEngine", "PeerEngineTestSupport",
        byteBuffer,
      ]),
    tests(of: "Pattern", ["Media", "Codecs"]),
    tests(
      of: "CallCheck",
      [
        "CallCheckTestSupport", "CallReport", "Media", "MediaWorker", "Codecs", "Pattern", "PeerEngine", "Signalling",
        "chatbot-media", byteBuffer,
      ]),
    tests(of: "CallReport", ["CallCheckTestSupport", "CallCheck", "Codecs", "Media"]),
    tests(of: "FileSource", ["Bitstream", "Media", "chatbot-media", byteBuffer]),
    tests(
      of: "Inspection", ["InspectionTestSupport", "CallCheck", "CallReport", "Media", "Recorder", byteBuffer],
      resources: [.copy("Fixtures")]),
    tests(
      of: "Composition", ["FileSource", "Inspection", "InspectionTestSupport", "Media", "Recorder", byteBuffer]),
    tests(of: "TextDrawing", ["Media"]),
    tests(
      of: "Composer",
      [
        "CThreads", "Codecs", "Composition", "FileSource", "Inspection", "InspectionTestSupport", "Media",
        "MediaMessages", "MediaWorker", "Pattern", "RecordedCalls", "Recorder", "chatbot-media", byteBuffer,
      ]),
    tests(
      of: "LiveSource",
      ["Bitstream", "Media", "MediaMessages", "Codecs", "Pattern", "FileSource", "chatbot-media", byteBuffer]),
    tests(of: "Console", ["Media", "PeerEngine", logging]),
    tests(
      of: "MetricsEndpoint",
      [
        "BotPeer", "Call", "JobProtocol", "Media", "OptionValues", "PrometheusText", "RoomServer", "SkyRTC", byteBuffer,
        sockets, logging,
      ]),
    tests(
      of: "chatbot",
      [
        "Media", "BotPeer", "Call", "CallCheck", "CallReport", "Codecs", "Console", "FaultInjection", "Inspection",
        "InspectionTestSupport", "ICE", "LiveSource", "Load", "NetworkEmulation", "Pattern", "PeerEngine", "RTP",
        "Recorder", "Room", "RoomMessages", "SCTP", "SDP", "DataMessages", "ExecSignalling", "Signalling",
        "SignallingAdapters", "SkyRTC", "CommandSettings", "OptionValues", byteBuffer, arguments, logging,
      ]),
    tests(of: "JobProtocol", ["JSON", "Media"]),
    tests(
      of: "JobProcess",
      [
        "BotPeer", "Call", "JobProtocol", "JSON", "LiveSource", "Media", "Recorder", "Signalling", "SkyRTC",
        "chatbot-media", byteBuffer, sockets, logging,
      ]),
    tests(of: "SQLStore", ["JobProtocol", "Media"]),
    tests(of: "ObjectStore", ["JobProtocol", "Media"]),
    tests(
      of: "S3", ["JSON", "Media", "ObjectStore", byteBuffer, sockets, http, logging], resources: [.copy("Fixtures")]),
    tests(of: "Webhooks", ["JSON", "Media", byteBuffer, sockets, http]),
    tests(of: "PrometheusText", [coreMetrics, metrics]),
    tests(
      of: "Service",
      [
        "JobProtocol", "JSON", "Media", "ObjectStore", "OptionValues", "PrometheusText", "S3", "SQLStore", "Webhooks",
        byteBuffer, sockets, http, logging, metrics, lifecycle, httpServer, yaml,
      ]),
    .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "TestSupport"], swiftSettings: testRules),
    .testTarget(
      name: "DocumentationTests", dependencies: ["TestSupport"], exclude: ["Interfaces"], swiftSettings: testRules),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "TestSupport", "MachineStalls", "NetworkEmulation", "PeerEngine", "BotPeer", "Room", "Signalling", "SkyRTC",
        "HTTPTransport", "Media", "Codecs", "Pattern", "RecordedCalls", byteBuffer, sockets, http, webSocket, logging,
      ],
      resources: [.copy("Pages")], swiftSettings: testRules),
  ],
  cxxLanguageStandard: .cxx17
)

// It needs libFuzzer's runtime, which only `scripts/fuzz.sh` links.
if Context.environment["CHATBOT_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Program", swiftSettings: rules))
}

// `make unit ONLY=RecorderTests` builds no other tests than these.
if let names = Context.environment["CHATBOT_TEST_TARGETS"]?.split(separator: ",").map(String.init) {
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
