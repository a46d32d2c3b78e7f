/* Backward of y = swish(a) * b with swish(a) = a / (1 + exp(-beta * a)). dy, a, b, accumulated: one
 * shape. accumulated, if it is there, is added to da: the gradient of a that came another way. */
REG_OP(SwishGluGrad)
    .INPUT(dy, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .INPUT(a, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .INPUT(b, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .OPTIONAL_INPUT(accumulated, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .OUTPUT(da, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .OUTPUT(db, TensorType({DT_FLOAT16, DT_FLOAT, DT_BF16}))
    .ATTR(beta, Float, 1.0f)
    .OP_END_FACTORY_REG(SwishGluGrad)

