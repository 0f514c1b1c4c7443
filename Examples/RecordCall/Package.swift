// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "RecordCall",
  dependencies: [.package(path: "../chatbot")],
  targets: [
    .executableTarget(
      name: "RecordCall",
      dependencies: [
        .product(name: "Call", package: "chatbot"), .product(name: "Recorder", package: "chatbot"),
        .product(name: "SkyRTC", package: "chatbot"),
      ],
      path: ".")
  ])
